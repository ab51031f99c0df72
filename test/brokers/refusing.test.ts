import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { temporaryFolder } from "../support/temporaryFolder";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 2 } as const;
const network = delayNetwork(shape);
const refusing = { "x-queue-type": "quorum", "x-max-length": 40, "x-overflow": "reject-publish" };

describe("rabbitmq-delay check, of queues that refuse messages when they are full", () => {
  onEachBroker((broker) => {
    // Forty messages for one of them held up everybody's, and an exchange's were found by nobody.
    it("finds those behind a network and behind an exchange that delays, and none that drops its oldest", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const definition = { "max-length": 9, overflow: "reject-publish" };
      const policy = { pattern: "^Sales$", "apply-to": "queues", definition };
      await management.call("PUT", `policies/${vhost}/limits`, policy);
      await management.declare(vhost, network, ["Sales"]);
      const channel = await openChannel(broker(), vhost);
      await channel.assertExchange("shop.delivery", "direct", { durable: true });
      for (const [queue, source, key, overflow] of [
        ["near", network.bindingExchange, "*.*.near", "reject-publish"],
        ["paid", "shop.delivery", "paid", "reject-publish"],
        ["sent", "shop.delivery", "sent", "drop-head"],
      ] as const) {
        await channel.assertQueue(queue, { durable: true, arguments: { ...refusing, "x-overflow": overflow } });
        await channel.bindQueue(queue, source, key);
      }
      await channel.assertQueue("elsewhere", { durable: true, arguments: refusing });
      const file = join(temporaryFolder(), "Pulumi.prod.yaml");
      const delayedExchanges = [{ exchange: "shop", delays: [500], type: "direct" }];
      const config = {
        "rabbitmq-delay:network": shape,
        "rabbitmq-delay:broker": { vhost },
        "rabbitmq-delay:endpoints": [{ name: "Sales" }],
        "rabbitmq-delay:delayedExchanges": JSON.stringify(delayedExchanges),
      };
      writeFileSync(file, JSON.stringify({ config }));
      const found = async (...args: string[]): Promise<string[]> => {
        const { out, err } = await runCommand(["check", "--management", management.url, "--json", ...args]);
        assert.match(out, /^\[/, err);
        return (JSON.parse(out) as { rule: string; subject: string; message: string }[])
          .filter(({ rule }) => rule === "refusing")
          .map(({ subject, message }) => `${subject}: ${message}`)
          .sort();
      };
      const [sales, near, paid, ...others] = await found("--stack-config", file);
      assert.deepEqual(others, []);
      assert.match(near ?? "", /^queue near: .* once it holds 40 messages .*hold up everybody's messages/);
      assert.match(paid ?? "", /^queue paid: /);
      assert.match(sales ?? "", /^queue Sales: .* once it holds 9 messages/);
      assert.equal((await found("--vhost", vhost)).length, 2, "a vhost without a config shows its networks alone");
    });
  });
});
