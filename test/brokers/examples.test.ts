import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { workRetry } from "@rabbitmq-delay/topology";
import { root } from "../../toolchain/dist/paths";
import { onEachBroker } from "../support/brokers";
import { temporaryFolder } from "../support/temporaryFolder";

const LONGEST_MS = 120_000;

describe("the examples", () => {
  onEachBroker((broker) => {
    // They stood still for ever, so that run.sh never removed its stack, or ended with a stack trace of the client library.
    it("end with one line when the broker refuses what they ask for", async () => {
      const folder = temporaryFolder();
      const outputs = join(folder, "outputs.json");
      writeFileSync(outputs, JSON.stringify({ workRetry: workRetry({ queue: "invoices", delays: ["1s"] }) }));
      const vhost = await broker().management.createVhost();
      const env = { ...process.env, RABBITMQ_URL: `${broker().node.amqpUrl}/${vhost}`, STACK_OUTPUTS: outputs };
      const refused: [string[], RegExp][] = [
        [["receive.js", "nowhere"], /^.*no queue 'nowhere' .*\n$/],
        [["store/publish.js", "somewhere", "5000", "hello"], /^.*no exchange 'delayed' .*\n$/],
        [["store/publish.js", "somewhere"], /^usage: .*\n$/],
        [["from-the-plugin/amqplib/publish.js", "paid", "5000", "hello"], /^.*no exchange 'shop' .*\n$/],
        [["from-the-plugin/amqplib/receive.js", "paid"], /^.*no exchange 'shop\.delivery' .*\n$/],
        [["from-the-plugin/amqplib/publish.js", "paid"], /^usage: .*\n$/],
        [["retries/work-queue/service.js"], /^errorQueue: "invoices\.dead" is not allowed.*\n$/],
      ];
      for (const [[file, ...args], message] of refused) {
        const { code, said } = await run([join(root, "examples", file as string), ...args], env);
        assert.equal(code, 1, `${file}: ${said}`);
        assert.match(said, message);
      }
    });
  });

  function run(args: string[], env: NodeJS.ProcessEnv): Promise<{ code: number | null; said: string }> {
    const child = spawn(process.execPath, args, { env, timeout: LONGEST_MS });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (said += data.toString()));
    return new Promise((resolve) => child.on("close", (code) => resolve({ code, said })));
  }
});
