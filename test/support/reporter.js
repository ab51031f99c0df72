"use strict";

const { relative } = require("node:path");
const { reporters } = require("mocha");
const { closeRejections, listRejections } = require("./rejections");

const SLOWEST = 10;

/** Mocha's own report, where the time went, and a last line that a CI can count by. */
module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    this.ended = [];
    runner.on("test end", (test) => this.ended.push(test));
  }

  epilogue() {
    // What failed comes last: the end of a long log is the part that is always kept.
    if (this.ended.length > SLOWEST) this.printSlowest();
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    const rejections = listRejections();
    for (const reason of rejections) console.log(`nobody caught a rejection, which would end a service: ${reason}\n`);
    console.log(`${passes} passed, ${failures + rejections.length} failed, ${pending} skipped`);
  }

  /** Called after the last server is stopped. A service would have ended by what nobody caught; so the run has failed. */
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
  }
};

function print(title, timed) {
  console.log(`  ${title}:`);
  const slowest = timed.sort(([a], [b]) => b - a).slice(0, SLOWEST);
  for (const [ms, name] of slowest) console.log(`    ${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);
  console.log();
}
