import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const components = join(__dirname, "..");

/** Two runs of one process, of which the first rejects while the second ends; in a process of its own, because Mocha hears rejections. */
const PROGRAM = `
  const pulumi = require("@pulumi/pulumi");
  const { withLocalStorage } = require("@pulumi/pulumi/runtime/state");
  const { keepOnFailure } = require("./dist/keptOnFailure");
  process.on("unhandledRejection", () => undefined);
  const ends = {};
  const run = (name, program) => withLocalStorage(async () => {
    await pulumi.runtime.setMocks({ newResource: () => ({ state: {} }), call: () => ({}) }, "project", name);
    const monitor = pulumi.runtime.getMonitor();
    monitor.signalAndWaitForShutdown = (request, callback) => callback(null);
    keepOnFailure();
    await program();
    await new Promise((resolve) => monitor.signalAndWaitForShutdown({}, (error) => resolve((ends[name] = error?.message ?? "ended"))));
  });
  const rejects = async () => void Promise.reject(new Error("refused"));
  Promise.all([run("failing", rejects), run("good", async () => undefined)]).then(() => console.log(JSON.stringify(ends)));
`;

describe("a process that runs several programs", () => {
  // A late rejection of one run made the next one end with an error.
  it("keeps the engine from deleting after the run that failed, and after no other", () => {
    const output = execFileSync(process.execPath, ["-e", PROGRAM], { cwd: components, encoding: "utf8" });
    assert.deepEqual(JSON.parse(output), { failing: "the program failed, so nothing is deleted", good: "ended" });
  });
});
