import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "mocha";
import { MissingProgramError, installed, skipIfMissing } from "../support/missingPrograms";
import { ServerRegister, runFolder } from "../support/servers";

describe("a server that tests share", () => {
  const kind = `kind-${randomUUID()}`;
  const register = new ServerRegister<string>(kind, async () => undefined);

  it("is started once", async () => {
    let count = 0;
    const start = async (): Promise<string> => `started ${++count}`;
    const all = await Promise.all([register.shared("one", start), register.shared("one", start)]);
    assert.deepEqual(all, ["started 1", "started 1"]);
  });

  // Tests of a broker that did not start were skipped, and the run passed.
  it("fails the tests of all processes if it can't start, and skips them if its program can't be had", async () => {
    const fail = (): Promise<never> => Promise.reject(new Error("no port"));
    const [failing, missing] = [
      () => register.shared("failing", fail),
      () => register.shared("missing", () => installed(fail)),
    ];
    for (let process = 0; process < 2; process++) {
      await assert.rejects(
        failing,
        (error) => !(error instanceof MissingProgramError) && /no port/.test(String(error)),
      );
      await assert.rejects(missing, (error) => error instanceof MissingProgramError && /no port/.test(String(error)));
    }
    const suite = { skip: () => assert.fail("skipped") } as unknown as Context;
    assert.throws(() => skipIfMissing(suite, new Error("no port")), /no port/);
  });

  it("is waited for no longer than the process runs that starts it", async () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    writeFileSync(join(runFolder(kind), "ended.json.lock"), `${pid}`);
    await assert.rejects(
      register.shared("ended", async () => "started"),
      /the process that was to start ended has ended/,
    );
  });
});
