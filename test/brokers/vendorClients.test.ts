import { strict as assert } from "node:assert";
import * as amqp from "amqplib";
import { DelayNetworkOptions, delayNetwork, parkingPolicy, planEntities } from "rabbitmq-delay-topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";

interface Vendor {
  options: DelayNetworkOptions;
  level: (level: number) => string;
  delivery: string;
  arguments: (level: number, next: string) => Record<string, unknown>;
}

/** What the vendors' clients declare, written down from their public sources, apart from the code under test. */
const vendors: Record<string, Vendor> = {
  "NServiceBus v2": {
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
  "NServiceBus v1": {
    options: { preset: "nservicebus-v1" },
    level: (level) => `nsb.delay-level-${level < 10 ? "0" : ""}${level}`,
    delivery: "nsb.delay-delivery",
    arguments: (level, next) => ({
      "x-queue-mode": "lazy",
      "x-message-ttl": Math.pow(2, level) * 1000,
      "x-dead-letter-exchange": next,
    }),
  },
  "Celery, quorum": {
    options: { preset: "celery" },
    level: (level) => `celery_delayed_${level}`,
    delivery: "celery_delayed_delivery",
    arguments: (level, next) => ({
      "x-queue-type": "quorum",
      "x-overflow": "reject-publish",
      "x-message-ttl": Math.pow(2, level) * 1000,
      "x-dead-letter-exchange": next,
      "x-dead-letter-strategy": "at-least-once",
    }),
  },
  "Celery, classic": {
    options: { preset: "celery", queueType: "classic" },
    level: (level) => `celery_delayed_${level}`,
    delivery: "celery_delayed_delivery",
    arguments: (level, next) => ({
      "x-queue-type": "classic",
      "x-overflow": "reject-publish",
      "x-message-ttl": Math.pow(2, level) * 1000,
      "x-dead-letter-exchange": next,
    }),
  },
};

/** Declares as the vendors' set-up loops do: from level 27 down, then the delivery exchange. */
async function declareAsVendor(channel: amqp.Channel, vendor: Vendor): Promise<void> {
  let stars = "";
  for (let level = 27; level >= 0; level--) {
    const [current, next] = [vendor.level(level), level > 0 ? vendor.level(level - 1) : vendor.delivery];
    await channel.assertExchange(current, "topic", { durable: true });
    await channel.assertQueue(current, { durable: true, arguments: vendor.arguments(level, next) });
    await channel.bindQueue(current, current, `${stars}1.#`);
    stars += "*.";
  }
  await channel.assertExchange(vendor.delivery, "topic", { durable: true });
  stars = "";
  for (let level = 27; level >= 0; level--) {
    await channel.bindExchange(
      level > 0 ? vendor.level(level - 1) : vendor.delivery,
      vendor.level(level),
      `${stars}0.#`,
    );
    stars += "*.";
  }
}

describe("vendors' own clients", () => {
  onEachBroker((broker) => {
    for (const [name, vendor] of Object.entries(vendors)) {
      for (const order of ["ours first", "theirs first"]) {
        it(`${name} and we declare the same, ${order}`, async () => {
          const { management } = broker();
          const vhost = await management.createVhost();
          const network = delayNetwork(vendor.options);
          const channel = await openChannel(broker(), vhost);
          const ours = (): Promise<void> => management.declare(vhost, network, ["Sales"]);
          if (order === "ours first") await ours();
          await declareAsVendor(channel, vendor);
          if (order === "theirs first") await declareOverAmqp(channel, network);
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

  /** An import leaves an existing queue as it is; a declare over AMQP fails when an argument differs. */
  async function declareOverAmqp(channel: amqp.Channel, network: ReturnType<typeof delayNetwork>): Promise<void> {
    const { exchanges, queues } = planEntities(network);
    for (const { name, type } of exchanges) await channel.assertExchange(name, type, { durable: true });
    for (const { name, arguments: values } of queues)
      await channel.assertQueue(name, { durable: true, arguments: values });
    assert.equal(parkingPolicy(network)?.name, network.parkingExchange);
  }
});
