import { strict as assert } from "node:assert";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileResult, Failure, RunResult, filesToRerun, verdictOf } from "../support/runResult";
import { runTier } from "../support/runTier";
import { temporaryFolder } from "../support/temporaryFolder";
import { Tier, isRerun, tierOf } from "../support/tiers";

const late: Failure = { title: "comes in time", error: "late" };
const green = (passed: number): FileResult => ({ passed, skipped: 1, failed: [] });
const red = (passed: number): FileResult => ({ passed, skipped: 0, failed: [late] });
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

  it("is a failure if a file failed twice, or was not run again", () => {
    assert.deepEqual(verdictOf(run({ a: red(3) }), run({ a: red(2) })), {
      passed: 2,
      failed: 1,
      skipped: 0,
      flaky: [],
    });
    assert.equal(verdictOf(run({ a: red(3) })).failed, 1);
    assert.equal(verdictOf(run({ a: green(3) }, ["one"]), run({}, ["another"])).failed, 2);
  });
});

describe("files that look for lost, early or misplaced messages under faults", () => {
  it("never run again, all others do", () => {
    const files = [...tierOf("test").files, ...tierOf("clients").files];
    const never = files.filter((file) => !isRerun(file));
    for (const name of [
      "kills",
      "outages",
      "faults",
      "retryCrashes",
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
  /** Runs test files with these bodies, each of which knows a file name of its own as `mark`. */
  async function runBodies(...bodies: string[]): Promise<{ isGreen: boolean; said: string }> {
    const folder = temporaryFolder();
    const files = bodies.map((body, index) => {
      const file = join(folder, `${index}.test.js`);
      const text = `const fs = require("fs"), mark = ${JSON.stringify(join(folder, `${index}.mark`))};\n`;
      writeFileSync(file, `${text}it("test ${index}", () => { ${body} });`);
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

  const FAILS_ONCE = `if (fs.existsSync(mark)) return; fs.writeFileSync(mark, ""); throw new Error("busy");`;

  it("passes if a file passes the second time, and says so in its last lines", async () => {
    const { isGreen, said } = await runBodies(FAILS_ONCE, "");
    assert.equal(isGreen, true, said);
    assert.match(said, / {2}flaky: \S*0\.test\.js: test 0: busy\n2 passed, 0 failed, 0 skipped$/);
  });

  it("knows the file of a hook that failed", async () => {
    const { isGreen, said } = await runBodies(`}); afterEach(() => { ${FAILS_ONCE}`, "");
    assert.equal(isGreen, true, said);
    assert.match(said, / {2}flaky: \S*0\.test\.js: "after each" hook.*: busy\n2 passed, 0 failed, 0 skipped$/);
  });

  it("fails if a file fails twice, or leaves something in the temporary folder", async () => {
    const twice = await runBodies(`throw new Error("always");`, "");
    assert.equal(twice.isGreen, false);
    assert.match(twice.said, /\n1 passed, 1 failed, 0 skipped$/);
    const leaves = await runBodies(`fs.writeFileSync(require("path").join(require("os").tmpdir(), "x.db"), "");`);
    assert.equal(leaves.isGreen, false);
    assert.match(leaves.said, /left in the temporary folder: x\.db\n1 passed, 1 failed, 0 skipped$/);
  });

  // Mocha once ended silently, and with 0.
  it("fails if a process that runs files dies", async () => {
    const { isGreen, said } = await runBodies(`process.kill(process.pid, "SIGKILL");`, "", "");
    assert.equal(isGreen, false, said);
  });

  it("has a name that there is", () => {
    assert.throws(() => tierOf("slow"), /^Error: slow: no such tier; there are quick, test, clients, nightly$/);
    assert.ok(tierOf("quick").files.every((file) => existsSync(file)));
  });
});
