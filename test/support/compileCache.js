"use strict";

// Loaded before all else by every Node process of a test run (see lifecycle.ts): most of what a short one does is compile the
// same modules. What V8 made of each is kept for the processes that follow, in a folder that goes with the run.
const { createHash } = require("node:crypto");
const { readFileSync, renameSync, statSync, writeFileSync } = require("node:fs");
const { Module } = require("node:module");
const { dirname, join, sep } = require("node:path");
const { setFlagsFromString } = require("node:v8");
const { Script } = require("node:vm");

/** Modules of Pulumi's SDK, more than half of its code, that it loads for functions in a state alone; got when they are used. */
const SELDOM = ["typescript", "@npmcli/arborist"];

/** What is compiled for others, as npm, which runs from elsewhere, is none of our business. */
const ours = join(__dirname, "..", "..", sep);

const folder = process.env.RABBITMQ_DELAY_TEST_COMPILED;
if (folder !== undefined) {
  keepCompiled(folder);
  postponeSeldom();
}

function keepCompiled(folder) {
  // Pulumi's SDK sets this while it is loaded; V8 rejects what was compiled under other flags.
  setFlagsFromString("--allow-natives-syntax");
  const compileAnew = Module.prototype._compile;
  const fresh = new Map();

  Module.prototype._compile = function compile(content, filename, ...more) {
    // A script compiled here can't import modules when it runs, and an ES module is none: both are left to Node.
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

  // At the end it has the functions that were called, too.
  process.once("exit", () => {
    for (const [file, script] of fresh) {
      try {
        writeFileSync(`${file}.${process.pid}`, script.createCachedData());
        renameSync(`${file}.${process.pid}`, file);
      } catch {
        // The run is over, and its folder gone.
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

/** Where a file's compiled code is kept, by what tells a changed file; undefined for what is no file. */
function fileOf(folder, filename) {
  const stats = statSync(filename, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const name = createHash("sha1").update(`${filename} ${stats.mtimeMs} ${stats.size}`).digest("hex");
  return join(folder, name);
}

/** What Node gives each module. */
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
