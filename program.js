"use strict";

// What Pulumi runs. The program is compiled ahead, because a preview through ts-node takes half as long again; sources that
// are newer than the compiled program are compiled first, so that plain `pulumi` never runs a stale one.
const { execFileSync } = require("node:child_process");
const { readdirSync, statSync } = require("node:fs");
const { enableCompileCache, flushCompileCache } = require("node:module");
const { join } = require("node:path");

keepCompiledModules();
endWithTheEngine();
leaveStackTracesUnmapped();

const rooms = ["components", "packages/topology", "packages/broker"];
const sources = ["index.ts", "program", ...rooms];
const compiled = join(__dirname, "dist", "index.js");

// From Node 22.10 on, V8's result for each module is kept in the folder of temporary files, or in that of NODE_COMPILE_CACHE, for the next
// run. The SDK ends the process itself, so what is kept is written as it ends.
function keepCompiledModules() {
  if (typeof flushCompileCache !== "function") return;
  enableCompileCache();
  process.on("exit", () => flushCompileCache());
}

// When the engine was killed, nobody reads what the program prints. The SDK prints each error, also the one of that print,
// forever: a process of gigabytes at full load.
function endWithTheEngine() {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => process.exit(1));
}

// The SDK takes a stack trace for each resource; mapping them back to TypeScript is a third of a preview with 1,000 endpoints.
function leaveStackTracesUnmapped() {
  Error.prepareStackTrace = undefined;
}

function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return path.endsWith(".ts") ? stats.mtimeMs : 0;
  const skipped = ["dist", "node_modules", "test"];
  return Math.max(0, ...readdirSync(path).map((name) => (skipped.includes(name) ? 0 : newest(join(path, name)))));
}

function builtAt() {
  const marks = [".", ...rooms].map((room) => join(__dirname, room, "dist", ".tsbuildinfo"));
  try {
    return Math.max(...marks.map((mark) => statSync(mark).mtimeMs));
  } catch {
    return 0;
  }
}

if (Math.max(...sources.map((source) => newest(join(__dirname, source)))) > builtAt()) {
  execFileSync(process.execPath, [require.resolve("typescript/bin/tsc"), "-b", __dirname], { stdio: "inherit" });
}

module.exports = require(compiled);
