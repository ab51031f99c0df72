import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/temporaryFolder";

const LATE =
  'setTimeout(() => void Promise.reject(new Error("late")), 5); return new Promise((end) => setTimeout(end, 50));';

describe("a rejection that nobody caught in a test", () => {
  for (const [how, more] of Object.entries({ "one process": [], "several processes": ["--parallel", "--jobs", "2"] })) {
    // It was printed among hundreds of lines, and the run passed, although a service would have ended by it.
    it(`fails the run in ${how}, once`, () => {
      const folder = temporaryFolder();
      const files = [LATE, ""].map((text, index) => {
        const file = join(folder, `${index}.test.js`);
        writeFileSync(file, `it("passes ${index}", () => { ${text} });`);
        return file;
      });
      const command = [require.resolve("mocha/bin/mocha.js"), ...more, ...files];
      const env = { ...process.env };
      delete env.MOCHA_WORKER_ID;
      const { status, stdout, stderr } = spawnSync(process.execPath, command, { env, encoding: "utf8" });
      const said = stdout + stderr;
      const once = said.split("service: Error: late").length === 2;
      assert.deepEqual([status, /2 passed, 1 failed/.test(said), once], [1, true, true], said);
      assert.match(said, /^ {2}failed: nobody caught, while this ran: passes 0: Error: late$/m);
    });
  }
});
