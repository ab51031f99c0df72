import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../toolchain/dist/ports";

const ports = join(__dirname, "../../toolchain/dist/ports.js");

// Else one would take the port of another's broker while that one is down, which then could not start again.
describe("free ports", () => {
  it("come in turn, so that a server which is down for a moment finds its own free again", async () => {
    const taken = await Promise.all(Array.from({ length: 100 }, () => freePort()));
    assert.equal(new Set(taken).size, 100);
  });

  it("are other ones in each process", async () => {
    const own = new Set(await Promise.all(Array.from({ length: 450 }, () => freePort())));
    const script = `const { freePort } = require(${JSON.stringify(ports)});
      Promise.all(Array.from({ length: 450 }, () => freePort())).then((taken) => console.log(JSON.stringify(taken)));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", script]);
    const taken = JSON.parse(stdout) as number[];
    assert.deepEqual([taken.length, taken.filter((port) => own.has(port))], [450, []]);
  });
});
