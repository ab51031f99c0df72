import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { onEachBroker } from "../support/brokers";
import { command } from "../support/command";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { RunEnd, TestStack } from "../support/stack";
import { temporaryFolder } from "../support/temporaryFolder";

const network = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 };

// Only `review` took a stack's name; the others wanted a file of its outputs.
describe("verbs that take --stack", () => {
  onEachBroker((broker, { isNewest }) => {
    // It is the engine that is asked.
    if (!isNewest) return;

    it("ask the engine for the network, or read the stack's config, in the current folder", async () => {
      const stack = await TestStack.inNewVhost(broker());
      const config = { network, endpoints: [{ name: "Sales", createQueue: true }] };
      stack.configure(config);
      await stack.up();
      const folder = temporaryFolder();
      copyFileSync(join(root, "Pulumi.yaml"), join(folder, "Pulumi.yaml"));
      copyFileSync(stack.configFile, join(folder, "Pulumi.test.yaml"));
      const run = (...args: string[]): Promise<RunEnd> =>
        new Promise((resolve, reject) => {
          const child = spawn(process.execPath, [command, ...args], { cwd: folder, env: stack.environment });
          let output = "";
          for (const stream of [child.stdout, child.stderr])
            stream.on("data", (data: Buffer) => (output += data.toString()));
          child.on("error", reject);
          child.on("close", (code) => resolve({ code, output }));
        });
      const message = ["--delay", "50ms", "--destination", "Sales"];
      const encoded = await run("encode", "--stack", "test", ...message, "--json");
      assert.equal(encoded.code, 0, encoded.output);
      assert.equal((JSON.parse(encoded.output) as { routingKey: string }).routingKey, "1.1.Sales");
      const decoded = await run("decode", "--stack", "test", "--key", "1.1.Sales", "--json");
      assert.equal((JSON.parse(decoded.output) as { delayMs: number }).delayMs, 50, decoded.output);
      const rendered = await run("render", "--stack", "test");
      assert.match(rendered.output, /orders\.r4x2u10\.delivery/);

      const address = new URL(broker().node.amqpUrl);
      address.pathname = `/${encodeURIComponent(stack.vhost)}`;
      const published = await run("publish", "--amqp", address.href, "--stack", "test", ...message, "--body", "x");
      assert.equal(published.code, 0, published.output);
      const channel = await openChannel(broker(), stack.vhost);
      await (await Receiver.on(channel, ["Sales"])).until(1);

      const checked = await run("check", "--stack", "test", "--management", broker().management.url, "--json");
      assert.equal(checked.code, 0, checked.output);
      assert.doesNotMatch(checked.output, /missing/);

      // The network's preset and vhost are known from the stack alone.
      const enforced = await run("enforce", "--stack", "test", "--management", broker().management.url);
      assert.equal(enforced.code, 2, enforced.output);
      assert.match(enforced.output, /custom/);
      const gateway = await run(
        "gateway",
        "run",
        "--stack",
        "test",
        "--amqp",
        `${broker().node.amqpUrl}/${stack.vhost}-other`,
      );
      assert.equal(gateway.code, 2, gateway.output);
      assert.match(gateway.output, new RegExp(`declared in vhost ${stack.vhost};`));

      const unknown = await run("encode", "--stack", "nobody", ...message);
      assert.deepEqual(
        [unknown.code, /--stack: pulumi gives no outputs of nobody: .*nobody/.test(unknown.output)],
        [3, true],
        unknown.output,
      );
      const both = await run("encode", "--stack", "test", "--preset", "celery", ...message);
      assert.deepEqual([both.code, /cannot be used with/.test(both.output)], [2, true], both.output);
    });
  });
});
