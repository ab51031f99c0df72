import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { delayNetwork, planBinding, planEntities } from "@rabbitmq-delay/topology";
import { parse } from "yaml";
import { root } from "../../toolchain/dist/paths";
import { TestBroker, onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { runKombu } from "../support/kombu";
import { declareAsNServiceBus, generations, installEndpoint } from "../support/nserviceBus";

const command = join(root, "packages", "cli", "bin", "rabbitmq-delay.js");

async function adopt(
  { node }: TestBroker,
  vhost: string,
): Promise<{ code: number | null; out: string; config: unknown }> {
  const management = ["--management", node.managementUrl.replace("://", "://guest:guest@"), "--vhost", vhost];
  const child = spawn(process.execPath, [command, "adopt", ...management]);
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  assert.equal(err, "");
  return { code, out, config: (parse(out) as { config?: unknown } | null)?.config };
}

describe("rabbitmq-delay adopt recognizes", () => {
  onEachBroker((broker) => {
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
          "nservicebus-v1": { preset: "nservicebus-v1", parking: false, matching: "suffix", adopt: true },
          nservicebus: { preset: "nservicebus", parking: false, matching: "suffix", adopt: true },
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
      assert.match(out, /# left out: queue amq\.gen-/);
      assert.match(out, /# left out: queue reply goes with its connection \(exclusive\)/);
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
            parking: false,
            matching: "suffix",
            adopt: true,
          },
          "rabbitmq-delay:endpoints": [{ name: "tasks", type: "exchange", adopt: true }],
        });
        // A stack with this config binds and declares nothing that is not there.
        const network = delayNetwork({ preset: "celery", prefix, queueType, parking: false, matching: "suffix" });
        const planned = [
          ...planEntities(network).bindings,
          ...planBinding(network, { name: "tasks", type: "exchange" }).bindings,
        ];
        type Found = { source: string; destination: string; routing_key: string };
        const found = await management.get<Found[]>(`bindings/${vhost}`);
        for (const one of planned)
          assert.ok(
            found.some(
              ({ source, destination, routing_key: key }) =>
                source === one.source && destination === one.destination && key === one.routingKey,
            ),
            JSON.stringify(one),
          );
      }
    });
  });
});
