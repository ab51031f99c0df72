"use strict";

// Every Node process of a test run loads this first (see lifecycle.ts): a short process mostly compiles the same modules. V8's result for
// each is kept for the processes that follow, in a folder that is removed with the run. Node's own cache (module.enableCompileCache) needs
// Node 22.1, and v8-compile-cache-lib can't run a file that uses import().
const { createHash } = require("node:crypto");
const { readFileSync, renameSync, statSync, writeFileSync } = require("node:fs");
const { Module } = require("node:module");
const { dirname, join, sep } = require("node:path");
const { setFlagsFromString } = require("node:v8");
const { Script } = require("node:vm");

/** Modules of Pulumi's SDK, more than half of its code, that it loads only for functions in a state; loaded when they are used. */
const SELDOM = ["typescript", "@npmcli/arborist"];

/** Only this project's files are cached; npm, for example, runs from elsewhere. */
const ours = join(__dirname, "..", "..", sep);

const folder = process.env.RABBITMQ_DELAY_TEST_COMPILED;
if (folder !== undefined) {
  keepCompiled(folder);
  postponeSeldom();
}

function keepCompiled(folder) {
  // Pulumi's SDK sets this flag while it is loaded; V8 rejects code that was compiled under other flags.
  setFlagsFromString("--allow-natives-syntax");
  const compileAnew = Module.prototype._compile;
  const fresh = new Map();

  Module.prototype._compile = function compile(content, filename, ...more) {
    // A script compiled here can't import modules when it runs, and an ES module is not a script: both are left to Node.
    const isOurs = filename.startsWith(ours) && !/\bimport\(/.test(content) && more[0] !== "module";
    const file = isOurs ? fileOf(folder, filename) : undefined;
    if (file === undefined) return compileAnew.call(this, content, filename, ...more);
    const cachedData = read(file);
    const source = Module.wrap(content.replace(/^#!.*/, ""));
    const script = new Script(source, { filename, cachedData });
    if (cachedData === undefined || script.cachedDataRejected) fresh.set(file, script);
    const define = script.runInThisContext();
    return define.call(this.exports, this.exports, requireOf(this), this, filename, dirname(filename));
  };

  // At the end of the process it also contains the functions that were called.
  process.once("exit", () => {
    for (const [file, script] of fresh) {
      try {
        writeFileSync(`${file}.${process.pid}`, script.createCachedData());
        renameSync(`${file}.${process.pid}`, file);
      } catch {
        // The run is over, and its folder removed.
        return;
      }
    }
  });
}

function postponeSeldom() {
  const load = Module._load;
  Module._load = function loadOrPostpone(...given) {
    const [request, parent] = given;
    if (!SELDOM.includes(request) || !parent?.filename?.includes("/@pulumi/pulumi/")) return load.apply(this, given);
    let loaded;
    const get = (_, name) => (name === "__esModule" ? true : (loaded ??= load.apply(this, given))[name]);
    return new Proxy({}, { get });
  };
}

/** Where a file's compiled code is kept, under a name that changes with the file; undefined for a module without a file. */
function fileOf(folder, filename) {
  const stats = statSync(filename, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const name = createHash("sha1").update(`${filename} ${stats.mtimeMs} ${stats.size}`).digest("hex");
  return join(folder, name);
}

/** The `require` function that Node gives each module. */
function requireOf(module) {
  const require = (id) => module.require(id);
  require.resolve = (request, options) => Module._resolveFilename(request, module, false, options);
  require.resolve.paths = (request) => Module._resolveLookupPaths(request, module);
  require.main = process.mainModule;
  require.extensions = Module._extensions;
  require.cache = Module._cache;
  return require;
}

function read(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
