import { strict as assert } from "node:assert";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "../support/cleanup";
import { FileResult, Failure, RunResult, filesToRerun, verdictOf } from "../support/runResult";
import { runTier } from "../support/runTier";
import { temporaryFolder } from "../support/temporaryFolder";
import { Tier, isRerun, tierOf } from "../support/tiers";

const late: Failure = { title: "comes in time", error: "late" };
const titles = [late.title, "a", "b", "c", "d"];
/** A file of five tests, of which the first is {@link late}. */
const green = (passed: number): FileResult => ({ passed: titles.slice(0, passed), skipped: ["e"], failed: [] });
const red = (passed: number): FileResult => ({ ...green(0), passed: titles.slice(1, passed + 1), failed: [late] });
const run = (files: Record<string, FileResult>, rejections: string[] = []): RunResult => ({ files, rejections });
const always = (): boolean => true;

describe("the files that run once more", () => {
  it("are those that failed, up to three", () => {
    const [a, b, c, d] = [red(1), red(1), red(1), red(1)];
    assert.deepEqual(filesToRerun(run({ a, b: green(1), c }), always), ["a", "c"]);
    assert.deepEqual(filesToRerun(run({ a, b, c }), always), ["a", "b", "c"]);
    assert.deepEqual(filesToRerun(run({ a, b, c, d }), always), [], "the fourth fails the run");
    assert.deepEqual(filesToRerun(run({ a: green(1) }), always), []);
  });

  it("are none if the run fails in any case", () => {
    const a = red(1);
    const files = { a, "test/store/kills.test.ts": red(1) };
    assert.deepEqual(filesToRerun(run(files), isRerun), [], "a finding");
    assert.deepEqual(filesToRerun(run({ a, "": red(0) }), always), [], "a process that died");
    assert.deepEqual(filesToRerun(run({ a }, ["a rejection"]), always), [], "a rejection");
  });
});

describe("the verdict on two runs", () => {
  it("counts a file by its second run, and names what was flaky", () => {
    const verdict = verdictOf(run({ a: red(3), b: green(5) }), run({ a: green(4) }));
    assert.deepEqual(verdict, { passed: 9, failed: 0, skipped: 2, flaky: [{ file: "a", ...late }] });
  });

  it("is a failure if what failed was skipped the second time, or did not run", () => {
    const others = { ...green(0), passed: titles.slice(1) };
    for (const second of [{ ...others, skipped: [late.title, "e"] }, others, green(2), green(0)])
      assert.deepEqual(verdictOf(run({ a: red(3) }), run({ a: second })), {
        passed: 3,
        failed: 1,
        skipped: 1,
        flaky: [],
      });
    const hook: Failure = { title: '"before all" hook for "a"', error: "late" };
    const kept = { passed: ["z"], skipped: [], failed: [hook] };
    assert.equal(verdictOf(run({ a: kept }), run({ a: { passed: ["z"], skipped: ["a"], failed: [] } })).failed, 1);
    assert.equal(verdictOf(run({ a: kept }), run({ a: { passed: ["z", "a"], skipped: [], failed: [] } })).failed, 0);
  });

  it("is a failure if a file failed twice, or was not run again", () => {
    assert.deepEqual(verdictOf(run({ a: red(3) }), run({ a: red(2) })), {
      passed: 2,
      failed: 1,
      skipped: 1,
      flaky: [],
    });
    assert.equal(verdictOf(run({ a: red(3) })).failed, 1);
    assert.equal(verdictOf(run({ a: green(3) }, ["one"]), run({}, ["another"])).failed, 2);
    assert.equal(verdictOf(run({ a: red(3), b: red(3) }), run({ a: green(4) }), run({ b: red(3) })).failed, 1);
  });
});

describe("files that look for lost, early or misplaced messages under faults", () => {
  it("never run again, all others do", () => {
    const { files } = tierOf("clients", "test");
    const never = files.filter((file) => !isRerun(file));
    for (const name of [
      "kills",
      "outages",
      "faults",
      "retryCrashes",
      "engine/gateway",
      "store/dispatcher",
      "store/intake",
      "gauntlet/random",
      "reviewSecrets",
      "enforceLive",
    ])
      assert.ok(
        never.some((file) => file.includes(name)),
        `${name}: ${never.join(", ")}`,
      );
    assert.equal(isRerun("test/engine/networks.test.ts"), true);
  });
});

describe("a tier", function () {
  /** Runs test files, each of which knows a file name of its own as `mark`. */
  async function runTexts(...texts: string[]): Promise<{ isGreen: boolean; said: string }> {
    const folder = temporaryFolder();
    const files = texts.map((text, index) => {
      const file = join(folder, `${index}.test.js`);
      const mark = JSON.stringify(join(folder, `${index}.mark`));
      writeFileSync(file, `const fs = require("fs"), mark = ${mark};\n${text}`);
      return file;
    });
    const tier: Tier = { files, jobs: 2, env: { MOCHA_WORKER_ID: undefined } };
    const { log, error } = console;
    const lines: string[] = [];
    console.log = console.error = (line: string): void => void lines.push(line);
    try {
      const isGreen = await runTier(tier, true);
      return { isGreen, said: lines.join("\n") };
    } finally {
      Object.assign(console, { log, error });
    }
  }

  const PASSES = `it("passes", () => undefined);`;
  const FAILS_ONCE = `if (fs.existsSync(mark)) return; fs.writeFileSync(mark, ""); throw new Error("busy");`;

  it("passes if files pass the second time, and says so in its last lines", async () => {
    // A timer that a test leaves behind does not keep the second run alive.
    const test = `it("test", () => { setInterval(() => undefined, 1000); ${FAILS_ONCE} });`;
    const hook = `afterEach(() => { ${FAILS_ONCE} }); it("passes", () => undefined);`;
    const { isGreen, said } = await runTexts(test, hook, PASSES);
    assert.equal(isGreen, true, said);
    assert.match(said, / {2}flaky: \S*0\.test\.js: test: busy\n/);
    assert.match(said, / {2}flaky: \S*1\.test\.js: "after each" hook.*: busy\n/);
    assert.match(said, /busy\n3 passed, 0 failed, 0 skipped$/);
  });

  it("fails if a file fails twice, leaves something in the temporary folder, or has no test", async () => {
    const leaves = `it("leaves", () => fs.writeFileSync(require("path").join(require("os").tmpdir(), "x.db"), ""));`;
    const fails = `it("fails", () => { throw new Error("always"); });`;
    const { isGreen, said } = await runTexts(fails, leaves, `describe("nothing", () => undefined);`);
    assert.equal(isGreen, false);
    assert.match(said, / {2}failed: left in the temporary folder: x\.db\n/);
    assert.match(said, / {2}failed: no test ran of \S*2\.test\.js\n1 passed, 3 failed, 0 skipped$/);
  });

  // Mocha listens to neither between two files, and blames the next one for what the first one has left.
  it("fails if nobody catches a rejection or an error, while a file is loaded and between two files as well", async () => {
    const first = `fs.writeFileSync(mark, "");`;
    const atImport = `${first} Promise.reject(new Error("at import"));\n${PASSES}`;
    const lateRejection = `it("a", () => { ${first} setTimeout(() => Promise.reject(new Error("late rejection")), 30); });`;
    const lateError = `it("a", () => { ${first} setTimeout(() => { throw new Error("late error"); }, 30); });`;
    // A process that is slow to start may run the first file last, and what comes after the last test is heard by nobody.
    const isFirstDone = `fs.existsSync(mark.replace(/\\d+\\.mark$/, "0.mark"))`;
    const waits = `while (!${isFirstDone}) await new Promise((end) => setTimeout(end, 10));`;
    const takesLong = `it("b", async () => { ${waits} await new Promise((end) => setTimeout(end, 300)); });`;
    for (const [text, message] of [
      [atImport, "at import"],
      [lateRejection, "late rejection"],
      [lateError, "late error"],
    ] as const) {
      const { isGreen, said } = await runTexts(
        text,
        takesLong,
        takesLong,
        takesLong,
        `it("c", () => { ${FAILS_ONCE} });`,
      );
      assert.equal(isGreen, false, `${message}: ${said}`);
      assert.doesNotMatch(said, /flaky/, message);
    }
  });

  it("fails in CI if a test is skipped that CI has all for", async () => {
    const { CI } = process.env;
    afterThisTest(() => void (CI === undefined ? delete process.env.CI : (process.env.CI = CI)));
    const skips = `${PASSES} it.skip("later", () => undefined);`;
    for (const [ci, isGreenThere] of [
      ["true", false],
      ["false", true],
    ] as const) {
      process.env.CI = ci;
      const { isGreen, said } = await runTexts(skips);
      assert.equal(isGreen, isGreenThere, said);
    }
  });

  it("leaves no process that a test has started", async () => {
    const mark = join(temporaryFolder(), "mark");
    const starts = `const { pid } = require("child_process").spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });`;
    const { isGreen } = await runTexts(
      `it("a", () => { ${starts} fs.writeFileSync(${JSON.stringify(mark)}, String(pid)); });`,
    );
    assert.equal(isGreen, true);
    assert.equal(existsSync(`/proc/${readFileSync(mark, "utf8")}/exe`), false);
  });

  it("fails if a hook before all tests failed, which may be any file's", async () => {
    const { isGreen, said } = await runTexts(PASSES, `before(() => { ${FAILS_ONCE} }); ${PASSES}`);
    assert.equal(isGreen, false, said);
  });

  // Mocha once ended silently, and with 0.
  it("fails if a process that runs files dies", async () => {
    const dies = `it("dies", () => process.kill(process.pid, "SIGKILL"));`;
    const { isGreen, said } = await runTexts(dies, PASSES, PASSES);
    assert.equal(isGreen, false, said);
  });

  it("ends with all that it has started when it is told to", async () => {
    // Remove the listener of lifecycle.ts, because it would end this process.
    const own = process.rawListeners("SIGHUP") as NodeJS.SignalsListener[];
    process.removeAllListeners("SIGHUP");
    afterThisTest(() => own.forEach((listener) => process.on("SIGHUP", listener)));
    const mark = join(temporaryFolder(), "mark");
    const starts = `const { pid } = require("child_process").spawn("sleep", ["1000"]);`;
    const notes = `fs.writeFileSync(${JSON.stringify(mark)}, String(pid)); return new Promise(() => undefined);`;
    const running = runTexts(`it("hangs", () => { ${starts} ${notes} });`);
    while (!existsSync(mark) || readFileSync(mark, "utf8") === "")
      await new Promise((resolve) => setTimeout(resolve, 50));
    const state = `/proc/${readFileSync(mark, "utf8")}/stat`;
    const isAlive = (): boolean => existsSync(state) && !/\) Z /.test(readFileSync(state, "utf8"));
    assert.equal(isAlive(), true);
    process.emit("SIGHUP", "SIGHUP");
    await assert.rejects(running, /ended by SIGHUP/);
    while (isAlive()) await new Promise((resolve) => setTimeout(resolve, 50));
  });

  it("has a name that there is", () => {
    assert.throws(() => tierOf("slow"), /^Error: slow: no such tier; there are quick, test, clients$/);
    assert.ok(tierOf("quick").files.every((file) => existsSync(file)));
  });
});
