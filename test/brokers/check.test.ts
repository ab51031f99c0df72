import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { delayNetwork } from "rabbitmq-delay-topology";
import { root } from "../../toolchain/dist/paths";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 2 } as const;
const network = delayNetwork(shape);

describe("rabbitmq-delay check", () => {
  onEachBroker((broker) => {
    it("compares a stack's config with the broker", async () => {
      const vhost = await broker().management.createVhost();
      const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-check-"));
      const file = join(folder, "Pulumi.prod.yaml");
      const config = {
        "rabbitmq-delay:network": shape,
        "rabbitmq-delay:broker": { vhost },
        "rabbitmq-delay:endpoints": [{ name: "Sales" }, { name: "Billing", createQueue: true }],
        "rabbitmq-delay:retryIntervals": JSON.stringify({ intervals: ["5s"] }),
      };
      writeFileSync(file, JSON.stringify({ config }));
      const url = broker().management.url;
      const alone = await check("--config", file, "--json");
      assert.deepEqual([alone.code, rulesOf(alone.output)], [0, ["at-most-once"]]);

      await broker().management.declare(vhost, network, ["Sales"]);
      const channel = await openChannel(broker(), vhost);
      await channel.assertQueue("Old", { durable: true });
      await channel.bindQueue("Old", network.deliveryExchange, "#.Sales");
      const compared = await check("--config", file, "--json", "--broker", url);
      assert.equal(compared.code, 1, compared.output);
      assert.deepEqual(rulesOf(compared.output), ["at-most-once", "collision", "missing-endpoint"]);

      await channel.unbindQueue("Old", network.deliveryExchange, "#.Sales");
      const mended = await check("--config", file, "--broker", url);
      assert.equal(mended.code, 0, mended.output);
      assert.match(mended.output, /^warning {2}queue mt-delay-5000: .*at most once/m);
      assert.match(mended.output, /^0 errors, 2 warnings$/m);
      assert.equal((await check("--config", file, "--broker", url, "--fail-on", "warning")).code, 1);
    });

    it("says what is wrong with its input", async () => {
      const file = join(mkdtempSync(join(tmpdir(), "rabbitmq-delay-check-")), "Pulumi.prod.yaml");
      writeFileSync(file, "config:\n  other:network: [");
      assert.match((await check("--config", file)).output, /is not YAML/);
      writeFileSync(file, "config:\n  shop:endpoints: []\n");
      const none = await check("--config", file);
      assert.deepEqual([none.code, /has no network/.test(none.output)], [2, true]);
      const both = await check("--config", file, "--preset", "celery");
      assert.match(both.output, /leave the others out/);
      const away = await check("--preset", "celery", "--broker", "http://127.0.0.1:4");
      assert.equal(away.code, 3);
      const vhost = await check("--preset", "celery", "--broker", broker().management.url, "--vhost", "nowhere");
      assert.match(vhost.output, /there is no vhost nowhere/);
    });
  });

  function rulesOf(json: string): string[] {
    return (JSON.parse(json) as { rule: string }[]).map(({ rule }) => rule).sort();
  }

  function check(...args: string[]): Promise<{ code: number | null; output: string }> {
    const command = join(root, "packages", "cli", "bin", "rabbitmq-delay.js");
    const child = spawn(process.execPath, [command, "check", ...args]);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (output += data.toString()));
    return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })));
  }
});
