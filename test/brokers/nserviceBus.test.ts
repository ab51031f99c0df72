import { strict as assert } from "node:assert";
import * as amqp from "amqplib";
import { DelayNetworkOptions, delayNetwork, planEntities } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";

interface Generation {
  options: DelayNetworkOptions;
  level: (level: number) => string;
  delivery: string;
  arguments: (level: number, next: string) => Record<string, unknown>;
}

/** What NServiceBus declares, written down from its public sources: its own client needs .NET. */
const generations: Record<string, Generation> = {
  v2: {
    options: { preset: "nservicebus" },
    level: (level) => `nsb.v2.delay-level-${level < 10 ? "0" : ""}${level}`,
    delivery: "nsb.v2.delay-delivery",
    arguments: (level, next) => ({
      "x-queue-type": "quorum",
      "x-dead-letter-strategy": "at-least-once",
      "x-overflow": "reject-publish",
      "x-message-ttl": Math.pow(2, level) * 1000,
      "x-dead-letter-exchange": next,
    }),
  },
  v1: {
    options: { preset: "nservicebus-v1" },
    level: (level) => `nsb.delay-level-${level < 10 ? "0" : ""}${level}`,
    delivery: "nsb.delay-delivery",
    arguments: (level, next) => ({
      "x-queue-mode": "lazy",
      "x-message-ttl": Math.pow(2, level) * 1000,
      "x-dead-letter-exchange": next,
    }),
  },
};

/** Declares as its set-up loop does: from level 27 down, then the delivery exchange. */
async function declareAsNServiceBus(channel: amqp.Channel, generation: Generation): Promise<void> {
  let stars = "";
  for (let level = 27; level >= 0; level--) {
    const [current, next] = [generation.level(level), level > 0 ? generation.level(level - 1) : generation.delivery];
    await channel.assertExchange(current, "topic", { durable: true });
    await channel.assertQueue(current, { durable: true, arguments: generation.arguments(level, next) });
    await channel.bindQueue(current, current, `${stars}1.#`);
    stars += "*.";
  }
  await channel.assertExchange(generation.delivery, "topic", { durable: true });
  stars = "";
  for (let level = 27; level >= 0; level--) {
    await channel.bindExchange(
      level > 0 ? generation.level(level - 1) : generation.delivery,
      generation.level(level),
      `${stars}0.#`,
    );
    stars += "*.";
  }
}

describe("NServiceBus's declarations", () => {
  onEachBroker((broker) => {
    for (const [name, generation] of Object.entries(generations)) {
      for (const order of ["ours first", "theirs first"]) {
        it(`of ${name} and ours are the same, ${order}`, async () => {
          const { management } = broker();
          const vhost = await management.createVhost();
          const network = delayNetwork(generation.options);
          const channel = await openChannel(broker(), vhost);
          const ours = (): Promise<void> => management.declare(vhost, network, ["Sales"]);
          if (order === "ours first") await ours();
          await declareAsNServiceBus(channel, generation);
          if (order === "theirs first") await declareOverAmqp(channel, planEntities(network));
          await ours();
          const bindings = await management.get<{ source: string }[]>(`bindings/${vhost}`);
          const planned = planEntities(network).bindings.length + 1;
          assert.equal(
            bindings.filter(({ source }) => source !== "").length,
            planned,
            "neither adds a binding to the other's",
          );
        });
      }
    }
  });
});
