import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Child } from "./child";
import { History, eventsOf } from "./history";
import { temporaryFolder } from "../support/temporaryFolder";

/** Says that it is ready, then does something; started anew, it only waits. */
const program = (act: string): string => `
  const { appendFileSync, existsSync, readFileSync } = require("node:fs");
  const { events } = JSON.parse(readFileSync(process.argv[2], "utf8"));
  const isFirst = !existsSync(events);
  appendFileSync(events, JSON.stringify({ kind: "ready" }) + "\\n");
  process.on("SIGTERM", () => process.exit(0));
  setInterval(() => undefined, 1000);
  if (isFirst) { ${act} }
  else appendFileSync(events, JSON.stringify({ kind: "again" }) + "\\n");`;

describe("a gauntlet's child process", () => {
  async function endsOf(act: string): Promise<string[]> {
    const folder = temporaryFolder();
    const file = join(folder, "program.js");
    writeFileSync(file, program(act));
    const history = new History();
    const options = { task: { part: "a" }, environment: {}, folder, history, onOutput: () => undefined };
    const child = new Child({ program: relative(join(__dirname, "programs"), file), ...options });
    void child.start();
    while (!history.events.some(({ kind }) => (kind as string) === "again")) {
      child.poll();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await child.stop();
    return eventsOf(history.events, "uncaught").map(({ error }) => error);
  }

  // Started anew without a word, a consumer that the library itself had ended passed every round.
  it("is noted when it ends by what nobody caught, and not when a signal ends it", async () => {
    const [end, ...more] = await endsOf('void Promise.reject(new TypeError("nobody awaits me"));');
    assert.match(end ?? "", /^its process ended with 1: TypeError: nobody awaits me/);
    assert.deepEqual(more, []);
    assert.deepEqual(await endsOf('process.kill(process.pid, "SIGKILL");'), []);
  });
});
