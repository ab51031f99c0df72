import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ConfirmChannel } from "amqplib";
import { encodeDelay, parseDelayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { TestStack } from "../support/stack";

const QUEUE = "Orders";
const TYPE = "Lab.Orders:Order";

/** What MassTransit 8 sends when a consumer's bus starts, in its order. */
async function startBus(channel: ConfirmChannel, isQuorum: boolean): Promise<void> {
  await channel.assertQueue(QUEUE, { durable: true, arguments: isQuorum ? { "x-queue-type": "quorum" } : {} });
  await channel.assertExchange(QUEUE, "fanout", { durable: true });
  await channel.assertExchange(TYPE, "fanout", { durable: true });
  await channel.bindQueue(QUEUE, QUEUE, "");
  await channel.bindExchange(QUEUE, TYPE, "");
}

/** It declares each exchange that it sends to. */
async function send(
  channel: ConfirmChannel,
  exchange: string,
  type: "fanout" | "topic",
  key: string,
  body: string,
): Promise<void> {
  await channel.assertExchange(exchange, type, { durable: true });
  await new Promise<void>((resolve, reject) =>
    channel.publish(exchange, key, Buffer.from(body), { persistent: true }, (error: unknown) =>
      error instanceof Error ? reject(error) : resolve(),
    ),
  );
}

describe("a stack of a team that runs MassTransit", () => {
  onEachBroker((broker) => {
    for (const queueType of ["classic", "quorum"] as const) {
      it(`${queueType}: its service runs as its user, declares what is there, and gets what it delays, once`, async () => {
        const { management, node } = broker();
        const vhost = await management.createVhost();
        const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "massTransit"));
        const user = `orders-${randomUUID()}`;
        stack.configure({ network: { user, queueType, brokerVersion: await management.version() } as never });
        const { code, output } = await stack.up();
        assert.equal(code, 0, output);
        assert.deepEqual(await stack.preview("--refresh"), []);
        const network = parseDelayNetwork((await stack.outputs()).network as object);
        const listed = async (): Promise<number[]> =>
          Promise.all(
            ["exchanges", "queues", "bindings"].map(
              async (kind) => (await management.get<[]>(`${kind}/${vhost}`)).length,
            ),
          );
        const declared = await listed();

        const { host } = new URL(node.amqpUrl);
        const amqpUrl = `amqp://${user}:${encodeURIComponent("the service's password")}@${host}`;
        // Who deletes a user closes its connections.
        const as = (): Promise<ConfirmChannel> =>
          openChannel({ ...broker(), node: { ...node, amqpUrl } }, vhost, { isExpectedToBreak: true });
        const channel = await as();
        await startBus(channel, queueType === "quorum");
        const [exchanges, queues, bindings] = await listed();
        // The one binding that is its own: its exchange to that of the message type.
        assert.deepEqual([exchanges, queues, bindings], [declared[0], declared[1], (declared[2] as number) + 1]);
        const receiver = await Receiver.on(channel, [QUEUE]);
        const publishing = await as();
        await send(publishing, TYPE, "fanout", "", "published at once");
        for (const destination of [QUEUE, TYPE]) {
          for (const delayMs of [300, 2000]) {
            const { exchange, routingKey } = encodeDelay(network, delayMs, destination);
            await send(publishing, exchange, "topic", routingKey, `to ${destination} after ${delayMs}`);
          }
        }
        const failed = `${QUEUE}_error`;
        await publishing.assertExchange(failed, "fanout", { durable: true });
        await publishing.assertQueue(failed, { durable: true });
        await publishing.bindQueue(failed, failed, "");
        await send(publishing, failed, "fanout", "", "a fault");
        const bodies = (await receiver.until(5)).map(({ message }) => message.content.toString());
        assert.deepEqual(bodies.sort(), [
          "published at once",
          ...[TYPE, QUEUE].flatMap((name) => [`to ${name} after 2000`, `to ${name} after 300`]),
        ]);
        await stack.destroy();
      });
    }
  });
});
