import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { createDelayPublisher, dueHeader } from "@rabbitmq-delay/publish";
import { delayNetwork, levelExchangeName, levelQueueName } from "@rabbitmq-delay/topology";
import { enablePlugin } from "../../toolchain/dist/brokerControl";
import { localInstallation, newestInstallation } from "../../toolchain/dist/brokerInstallations";
import { ownTestBroker } from "../support/brokers";
import { assertNotEarly } from "../support/clock";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";

const network = delayNetwork({ preset: "custom", prefix: "orders", radix: 4, levels: 3, unitMs: 500 });
const MESSAGES = 60;
const installs = [
  ["RabbitMQ 3.10", localInstallation],
  ["RabbitMQ 4.3", newestInstallation],
] as const;

describe("moving what waits to another broker, as docs/kubernetes-operations.md says", () => {
  for (const [label, install] of installs) {
    it(`on ${label}: a shovel for each level queue loses nothing, and makes nothing early`, async () => {
      const broker = await ownTestBroker(await install(() => undefined));
      await enablePlugin(broker.node, "rabbitmq_shovel");
      const [old, next] = [await broker.management.createVhost(), await broker.management.createVhost()];
      for (const vhost of [old, next]) await broker.management.declare(vhost, network, ["Billing"]);
      const receivers = [
        await Receiver.on(await openChannel(broker, old), ["Billing"]),
        await Receiver.on(await openChannel(broker, next), ["Billing"]),
      ];
      const publisher = createDelayPublisher(await openChannel(broker, old), network);
      await Promise.all(
        Array.from({ length: MESSAGES }, (_, index) =>
          publisher.publish("Billing", "x", { delayMs: 12_000 + index * 300, messageId: randomUUID() }),
        ),
      );
      for (let level = network.levels - 1; level >= 0; level--) {
        for (let digit = 1; digit < network.radix; digit++) {
          const queue = levelQueueName(network, level, digit);
          await broker.management.call("PUT", `parameters/shovel/${old}/move-${queue}`, {
            value: {
              "src-protocol": "amqp091",
              "src-uri": `${broker.node.amqpUrl}/${old}`,
              "src-queue": queue,
              "dest-protocol": "amqp091",
              "dest-uri": `${broker.node.amqpUrl}/${next}`,
              "dest-exchange": levelExchangeName(network, level),
              "ack-mode": "on-confirm",
            },
          });
        }
      }
      const arrivals = (): Receiver["arrivals"] => receivers.flatMap((receiver) => receiver.arrivals);
      while (arrivals().length < MESSAGES) await new Promise((resolve) => setTimeout(resolve, 50));
      const ids = arrivals().map(({ message }) => message.properties.messageId as string);
      assert.equal(new Set(ids).size, MESSAGES);
      assert.equal(ids.length, MESSAGES);
      assert.ok((receivers[1]?.arrivals.length ?? 0) > MESSAGES / 2, "most moved before they were due");
      for (const { message, atMs } of arrivals()) {
        const dueMs = Date.parse(message.properties.headers?.[dueHeader] as string);
        assertNotEarly(message.content.toString(), atMs, dueMs);
      }
    });
  }
});

describe("moving back what a network has parked", () => {
  for (const [label, install] of installs) {
    it(`on ${label}: a shovel to the exchange of the endpoints ends, and each message comes to its endpoint that is bound again`, async () => {
      const broker = await ownTestBroker(await install(() => undefined));
      await enablePlugin(broker.node, "rabbitmq_shovel");
      const vhost = await broker.management.createVhost();
      await broker.management.declare(vhost, network, ["Billing", "Sales"]);
      const channel = await openChannel(broker, vhost);
      const { bindingExchange, parkingQueue = "" } = network;
      const [key] = await broker.management.get<{ routing_key: string }[]>(
        `bindings/${vhost}/e/${bindingExchange}/q/Billing`,
      );
      const bindingKey = key?.routing_key as string;
      for (const name of ["Billing", "Sales"])
        await channel.unbindQueue(name, bindingExchange, bindingKey.replace("Billing", name));
      const publisher = createDelayPublisher(channel, network);
      for (const [name, id] of [
        ["Billing", "first"],
        ["Sales", "of another one"],
        ["Billing", "second"],
      ] as const)
        await publisher.publish(name, "x", { delayMs: 500, messageId: id });
      const parked = async (): Promise<number> => (await channel.checkQueue(parkingQueue)).messageCount;
      while ((await parked()) < 3) await new Promise((resolve) => setTimeout(resolve, 50));

      await channel.bindQueue("Billing", bindingExchange, bindingKey);
      await broker.management.call("PUT", `parameters/shovel/${vhost}/parked`, {
        value: {
          "src-protocol": "amqp091",
          "src-uri": `${broker.node.amqpUrl}/${vhost}`,
          "src-queue": parkingQueue,
          "src-delete-after": "queue-length",
          "dest-protocol": "amqp091",
          "dest-uri": `${broker.node.amqpUrl}/${vhost}`,
          "dest-exchange": bindingExchange,
          "ack-mode": "on-confirm",
        },
      });
      const arrivals = await (await Receiver.on(await openChannel(broker, vhost), ["Billing"])).until(2);
      const shovels = (): Promise<object[]> => broker.management.get(`parameters/shovel/${vhost}`);
      while ((await shovels()).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
      assert.deepEqual(
        arrivals.map(({ message }) => message.properties.messageId as string),
        ["first", "second"],
      );
      while ((await parked()) !== 1) await new Promise((resolve) => setTimeout(resolve, 50));
    });
  }
});
