import { strict as assert } from "node:assert";
import { join } from "node:path";
import { onEachBroker } from "../support/brokers";
import { runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { TestStack } from "../support/stack";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 } as const;
const refusing = { "x-queue-type": "quorum", "x-max-length": 40, "x-overflow": "reject-publish" };
const limits = { "max-length": 9, overflow: "reject-publish" };

// Forty messages for one of them held up everybody's, and `check` found it afterwards.
describe("queues that refuse messages when they are full", () => {
  onEachBroker((broker) => {
    const warnedBy = async (stack: TestStack): Promise<string[]> => {
      const { code, output } = await stack.run(["preview", "--stack", "test"]);
      assert.equal(code, 0, output);
      const told = output.replaceAll(/\s+/g, " ");
      return [...new Set(told.match(/queue \S+ refuses messages once it holds \d+ messages/g) ?? [])].sort();
    };

    it("are warned of by a stack with a network and a delayed exchange, before they are bound or declared", async () => {
      const stack = await TestStack.inNewVhost(broker());
      const channel = await openChannel(broker(), stack.vhost);
      await channel.assertQueue("Sales", { durable: true, arguments: refusing });
      await channel.assertQueue("paid", { durable: true, arguments: refusing });
      await channel.assertExchange("shop.delivery", "direct", { durable: true });
      await channel.bindQueue("paid", "shop.delivery", "paid");
      const billing = { name: "Billing", createQueue: true };
      const delayedExchanges = [{ exchange: "shop", delays: [500], delivery: "shop.delivery", declareDelivery: false }];
      const endpoints = [{ name: "Sales" }, { ...billing, queuePolicy: limits }];
      stack.configure({ network: shape, endpoints, delayedExchanges });
      assert.deepEqual(await warnedBy(stack), [
        "queue Billing refuses messages once it holds 9 messages",
        "queue Sales refuses messages once it holds 40 messages",
        "queue paid refuses messages once it holds 40 messages",
      ]);
      const dropping = { ...limits, overflow: "drop-head" };
      stack.configure({ network: shape, endpoints: [{ ...billing, queuePolicy: dropping }] });
      assert.deepEqual(await warnedBy(stack), []);
    });

    // Its oldest messages would be dropped, it said; and the stack's own policy was somebody else's to the check.
    it("are known by what an operator policy and the stack's own policy say together, before the update and after it", async () => {
      const { management, node } = broker();
      const stack = await TestStack.inNewVhost(broker());
      await management.call("PUT", `operator-policies/${stack.vhost}/op`, {
        pattern: "^Billing$",
        "apply-to": "queues",
        priority: 1,
        definition: { "max-length": 9 },
      });
      const told = (own: object): object => ({
        network: shape,
        endpoints: [{ name: "Billing", createQueue: true, queuePolicy: { "message-ttl": 86_400_000, ...own } }],
      });
      stack.configure(told({ overflow: "reject-publish" }));
      assert.deepEqual(await warnedBy(stack), ["queue Billing refuses messages once it holds 9 messages"]);
      const { output } = await stack.run(["preview", "--stack", "test"]);
      assert.match(
        output.replaceAll(/\s+/g, " "),
        /operator policy op .* sets max-length 9 on queue Billing: it would refuse messages/,
      );
      assert.doesNotMatch(output.replaceAll(/\s+/g, " "), /oldest messages would/);
      stack.configure(told({ overflow: "reject-publish", "max-length": 8 }));
      await stack.up();
      const address = ["--management", node.managementUrl.replace("://", "://guest:guest@")];
      const check = await runCommand(["check", "--stack-config", stack.configFile, ...address, "--json"]);
      const findings = JSON.parse(check.out) as { rule: string; message: string }[];
      assert.deepEqual(
        findings.filter(({ rule }) => rule === "policy"),
        [],
      );
      assert.match(findings.find(({ rule }) => rule === "refusing")?.message ?? "", /once it holds 8 messages/);
    });

    it("are warned of by a program of one's own", async () => {
      const vhost = await broker().management.createVhost();
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "edits"));
      const queueArguments = { "x-max-length": 40, "x-overflow": "reject-publish" };
      const parts = [
        { type: "DelayLevelTopology", name: "net", args: shape },
        ...[
          { endpoint: "Sales", queueArguments },
          { endpoint: "Billing", queuePolicy: limits },
        ].map((args) => ({
          type: "EndpointDelayBinding",
          name: args.endpoint,
          args: { network: "$net", createQueue: true, ...args },
        })),
      ];
      stack.configure({ network: { parts } });
      assert.deepEqual(await warnedBy(stack), [
        "queue Billing refuses messages once it holds 9 messages",
        "queue Sales refuses messages once it holds 40 messages",
      ]);
    });
  });
});
