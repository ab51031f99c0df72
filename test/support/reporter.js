"use strict";

const { readFileSync } = require("node:fs");
const { cpus } = require("node:os");
const { relative } = require("node:path");
const { reporters } = require("mocha");
const { closeRejections, listRejections } = require("./rejections");

const SLOWEST = 10;
/** The unit of /proc/stat, on every Linux on which Node runs. */
const TICKS_PER_SECOND = 100;

/** Mocha's own report, then where the time went, and a last line for CI to count by. */
module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    this.ended = [];
    this.busyAtStart = processorSeconds();
    runner.on("test end", (test) => this.ended.push(test));
    this.failed = [];
    runner.on("fail", (test, error) => this.failed.push({ error, title: test.fullTitle() }));
  }

  epilogue() {
    // Failures come last, because the end of a long log is the part that is always kept.
    if (this.ended.length > SLOWEST) this.printSlowest();
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    const rejections = listRejections();
    const reasons = new Set(rejections.map(({ reason }) => reason));
    for (const reason of reasons) console.log(`nobody caught a rejection, which would end a service: ${reason}\n`);
    // Once more and short: of a long log, often only the last lines are kept.
    for (const { error, title } of this.failed) console.log(`  failed: ${title}: ${firstLine(error.message)}`);
    for (const { reason, running } of rejections)
      console.log(`  failed: a rejection while this ran: ${running}: ${firstLine(reason)}`);
    console.log(`${passes} passed, ${failures + rejections.length} failed, ${pending} skipped`);
  }

  /** Called after the last server is stopped. An unhandled rejection would have ended a service, so it makes the run fail. */
  done(failures, end) {
    end(failures + closeRejections());
  }

  printSlowest() {
    const byFile = new Map();
    for (const { file, duration = 0 } of this.ended) byFile.set(file, (byFile.get(file) ?? 0) + duration);
    print(
      "The slowest tests",
      this.ended.map((test) => [test.duration ?? 0, test.fullTitle()]),
    );
    if (byFile.size > 1)
      print(
        "The slowest files, by their tests",
        [...byFile].map(([file, ms]) => [ms, relative(process.cwd(), file ?? "")]),
      );
    const busy = processorSeconds() - this.busyAtStart;
    if (!Number.isNaN(busy))
      console.log(`  This machine's ${cpus().length} processors worked for ${Math.round(busy)} s meanwhile.\n`);
  }
};

/** How long all processors have worked since the machine started, for any process; only on Linux. */
function processorSeconds() {
  if (process.platform !== "linux") return NaN;
  const [, user, nice, system] = readFileSync("/proc/stat", "utf8").split(/\s+/).map(Number);
  return (user + nice + system) / TICKS_PER_SECOND;
}

const LINE_LENGTH = 200;

function firstLine(text) {
  const [line] = String(text).split("\n");
  return line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH)}…` : line;
}

function print(title, timed) {
  console.log(`  ${title}:`);
  const slowest = timed.sort(([a], [b]) => b - a).slice(0, SLOWEST);
  for (const [ms, name] of slowest) console.log(`    ${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);
  console.log();
}
