import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { parse } from "yaml";
import { TestBroker, onEachBroker } from "../support/brokers";
import { CommandEnd, runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { runKombu } from "../support/kombu";
import { declareAsNServiceBus, generations, installEndpoint } from "../support/nserviceBus";
import { declareVendors } from "../support/nserviceBusVhosts";
import { temporaryFolder } from "../support/temporaryFolder";

async function run({ node }: TestBroker, verb: string, vhost: string, ...args: string[]): Promise<CommandEnd> {
  const management = ["--management", node.managementUrl.replace("://", "://guest:guest@"), "--vhost", vhost];
  const end = await runCommand([verb, ...management, ...args]);
  assert.equal(end.err, "");
  return end;
}

async function adopt(
  broker: TestBroker,
  vhost: string,
): Promise<{ code: number | null; out: string; config: Record<string, unknown> }> {
  const { code, out } = await run(broker, "adopt", vhost);
  return { code, out, config: (parse(out) as { config: Record<string, unknown> }).config };
}

/** What check finds wrong of a config, before its first update. */
async function errorsOf(broker: TestBroker, vhost: string, config: Record<string, unknown>): Promise<string[]> {
  const file = join(temporaryFolder(), "Pulumi.prod.yaml");
  writeFileSync(file, JSON.stringify({ config }));
  const { out } = await run(broker, "check", vhost, "--stack-config", file, "--json");
  return (JSON.parse(out) as { severity: string; message: string }[])
    .filter(({ severity }) => severity === "error")
    .map(({ message }) => message);
}

describe("rabbitmq-delay adopt recognizes", () => {
  onEachBroker((broker, { isNewest }) => {
    // It left both queues out, and the client of a direct topology.
    it("the endpoints, error queue and audit queue of NServiceBus, as the client itself has declared them", async () => {
      for (const topology of ["conventional", "direct"] as const) {
        // Before 4.0 the client sets no policy, which alone tells an endpoint of the direct topology.
        if (topology === "direct" && !isNewest) continue;
        const vhost = await broker().management.createVhost();
        await declareVendors(broker(), vhost, topology, isNewest);
        const { code, out, config } = await adopt(broker(), vhost);
        assert.equal(code, 0, out);
        const client = { client: "nservicebus", ...(topology === "direct" ? { routingTopology: "direct" } : {}) };
        assert.deepEqual(config, {
          "rabbitmq-delay:broker": { vhost },
          "rabbitmq-delay:network": { preset: "nservicebus", matching: "suffix", adopt: true },
          "rabbitmq-delay:endpoints": ["Audit.Trail", "Audit.Trail-1", "Billing", "Billing-1", "Sales", "Sales-1"].map(
            (name) => ({ name, ...client, adopt: true }),
          ),
          "rabbitmq-delay:errorQueues": ["audit", "error"],
        });
        assert.deepEqual(await errorsOf(broker(), vhost, config), []);
      }
    });

    it("what NServiceBus declares, of both versions, with what a stack of this project has beside it", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      for (const generation of [generations.v2, generations.v1]) await declareAsNServiceBus(channel, generation);
      await installEndpoint(channel, generations.v2, "Sales");
      await installEndpoint(channel, generations.v1, "Sales");
      await installEndpoint(channel, generations.v2, "Billing", false);
      const { queue } = await channel.assertQueue("", { exclusive: true });
      const reply = await channel.assertQueue("reply", { exclusive: true, durable: false, autoDelete: false });
      for (const name of [queue, reply.queue]) await channel.bindQueue(name, generations.v2.delivery, `#.${name}`);
      const own = delayNetwork({ preset: "custom", prefix: "orders", radix: 16, levels: 2, unitMs: 10 });
      await management.declare(vhost, own, ["Shipping"]);

      const { code, out, config } = await adopt(broker(), vhost);
      assert.equal(code, 0, out);
      assert.deepEqual(config, {
        "rabbitmq-delay:broker": { vhost },
        "rabbitmq-delay:networks": {
          "nservicebus-v1": { preset: "nservicebus-v1", matching: "suffix", adopt: true },
          nservicebus: { preset: "nservicebus", matching: "suffix", adopt: true },
          orders: {
            preset: "custom",
            prefix: "orders",
            radix: 16,
            levels: 2,
            unitMs: 10,
            queueType: "quorum",
            adopt: true,
          },
        },
        "rabbitmq-delay:current": "nservicebus-v1",
        "rabbitmq-delay:endpoints": [
          { name: "Sales", client: "nservicebus", networks: ["nservicebus-v1", "nservicebus"], adopt: true },
          { name: "Billing", client: "nservicebus", queueType: "classic", networks: ["nservicebus"], adopt: true },
          { name: "Shipping", networks: ["orders"], adopt: true },
        ],
      });
      assert.deepEqual(await errorsOf(broker(), vhost, config), []);
      assert.match(out, /# left out: queue amq\.gen-/);
      assert.match(out, /# left out: queue reply goes with its connection \(exclusive\)/);
    });

    // The broker shows the policy of a queue up to ten seconds late, and the config came without its keys.
    if (isNewest)
      it("a team's policy of an endpoint's queue as soon as it is set", async () => {
        const { management } = broker();
        const vhost = await management.createVhost();
        await declareVendors(broker(), vhost, "conventional", isNewest);
        const effective = async (): Promise<object> =>
          (await management.get<{ effective_policy_definition?: object }>(`queues/${vhost}/Sales`))
            .effective_policy_definition ?? {};
        while (!("delivery-limit" in (await effective()))) await new Promise((resolve) => setTimeout(resolve, 200));
        const definition = { "max-length": 5000 };
        await management.call("PUT", `policies/${vhost}/team`, {
          pattern: "^Sales$",
          "apply-to": "queues",
          priority: 5,
          definition,
        });
        const { config } = await adopt(broker(), vhost);
        const endpoints = config["rabbitmq-delay:endpoints"] as { name: string; queuePolicy?: object }[];
        assert.deepEqual(endpoints.find(({ name }) => name === "Sales")?.queuePolicy, definition);
      });

    it("a network of which a part is missing or otherwise, and names it", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      await channel.deleteQueue("nsb.v2.delay-level-03");
      await channel.deleteQueue("nsb.v2.delay-level-07");
      await channel.assertQueue("nsb.v2.delay-level-07", { durable: true });
      const { code, out } = await adopt(broker(), vhost);
      assert.equal(code, 1);
      assert.match(out, /# differs: queue nsb\.v2\.delay-level-03 is not on the broker: /);
      assert.match(out, /# differs: queue nsb\.v2\.delay-level-07 exists with /);
      assert.match(out, /# differs: exchange nsb\.v2\.delay-level-07 does not lead to queue nsb\.v2\.delay-level-07 /);
      assert.match(out, / {4}preset: nservicebus\n/);
    });

    it("what Celery's own library declares", async () => {
      const { management, node } = broker();
      for (const options of [{ queueType: "quorum" as const }, { queueType: "classic" as const, prefix: "shop" }]) {
        const vhost = await management.createVhost();
        await runKombu(`${node.amqpUrl}/${vhost}`, options);
        const { code, out, config } = await adopt(broker(), vhost);
        assert.equal(code, 0, out);
        const { prefix, queueType } = options;
        assert.deepEqual(config, {
          "rabbitmq-delay:broker": { vhost },
          "rabbitmq-delay:network": {
            preset: "celery",
            ...(prefix === undefined ? {} : { prefix }),
            ...(queueType === "classic" ? { queueType } : {}),
            matching: "suffix",
            adopt: true,
          },
          "rabbitmq-delay:endpoints": [{ name: "tasks", client: "celery", adopt: true }],
        });
        assert.deepEqual(await errorsOf(broker(), vhost, config), []);
      }
    });
  });
});
