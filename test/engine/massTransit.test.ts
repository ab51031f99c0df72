import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ConfirmChannel } from "amqplib";
import { encodeDelay, parseDelayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { missingRights } from "../support/command";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { TestStack } from "../support/stack";
import { wayOut } from "../support/waysOut";

const QUEUE = "Orders";
const TYPE = "Lab.Orders:Order";
const INTERFACE = "Lab.Orders:IOrder";
const fault = (type: string): string => `MassTransit:Fault--${type}--`;

/** What MassTransit 8 sends when a consumer's bus starts, in its order. */
async function startBus(channel: ConfirmChannel, declaredWith: object): Promise<void> {
  await channel.assertQueue(QUEUE, { durable: true, arguments: declaredWith });
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

/** It declares a type and its bases before it first publishes one, and binds the type's exchange to theirs. */
async function publish(channel: ConfirmChannel, type: string, bases: string[], body: string): Promise<void> {
  for (const name of [type, ...bases]) await channel.assertExchange(name, "fanout", { durable: true });
  for (const base of bases) await channel.bindExchange(base, type, "");
  await send(channel, type, "fanout", "", body);
}

describe("a stack of a team that runs MassTransit", () => {
  onEachBroker((broker) => {
    for (const queueType of ["classic", "quorum"] as const) {
      it(`${queueType}: its service runs as its user, declares what is there, and gets what it delays, once`, async () => {
        const { management, node } = broker();
        const vhost = await management.createVhost();
        const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "massTransit"));
        const user = `orders-${randomUUID()}`;
        const other = `other-${randomUUID()}`;
        const brokerVersion = await management.version();
        const bringUp = async (users: Record<string, string[]>): Promise<void> => {
          stack.configure({ network: { users, queueType, brokerVersion } as never });
          const { code, output } = await stack.up();
          assert.equal(code, 0, output);
        };
        await bringUp({ [user]: [TYPE, INTERFACE], [other]: [TYPE] });
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
        // Who deletes a user closes its connections.
        const as = (login = user): Promise<ConfirmChannel> => {
          const amqpUrl = `amqp://${login}:${encodeURIComponent("the service's password")}@${host}`;
          return openChannel({ ...broker(), node: { ...node, amqpUrl } }, vhost, { isExpectedToBreak: true });
        };
        const channel = await as();
        const declaredWith = queueType === "quorum" ? { "x-queue-type": "quorum" } : {};
        await startBus(channel, declaredWith);
        const [exchanges, queues, bindings] = await listed();
        // The one binding that is its own: its exchange to that of the message type.
        assert.deepEqual([exchanges, queues, bindings], [declared[0], declared[1], (declared[2] as number) + 1]);
        const receiver = await Receiver.on(channel, [QUEUE]);
        const publishing = await as();
        await publish(publishing, TYPE, [INTERFACE], "published at once");
        for (const destination of [QUEUE, TYPE]) {
          for (const delayMs of [300, 2000]) {
            const { exchange, routingKey } = encodeDelay(network, delayMs, destination);
            await send(publishing, exchange, "topic", routingKey, `to ${destination} after ${delayMs}`);
          }
        }
        const failed = `${QUEUE}_error`;
        await publish(publishing, fault(TYPE), [fault(INTERFACE), "MassTransit:Fault"], "a fault");
        await publishing.assertQueue(failed, { durable: true, arguments: declaredWith });
        await publishing.assertExchange(failed, "fanout", { durable: true });
        await publishing.bindQueue(failed, failed, "");
        await send(publishing, failed, "fanout", "", "failed");
        const bodies = (await receiver.until(5)).map(({ message }) => message.content.toString());
        assert.deepEqual(bodies.sort(), [
          "published at once",
          ...[TYPE, QUEUE].flatMap((name) => [`to ${name} after 2000`, `to ${name} after 300`]),
        ]);

        // Without the interface among its message types, a login publishes neither the message nor its fault.
        for (const [type, bases] of [
          [TYPE, [INTERFACE]],
          [fault(TYPE), [fault(INTERFACE)]],
        ] as const) {
          await assert.rejects(publish(await as(other), type, [...bases], ""), /403.*ACCESS_REFUSED.*IOrder/);
        }
        await publish(await as(other), fault(TYPE), ["MassTransit:Fault"], "a fault of a type without an interface");
        await assert.rejects((await as()).bindQueue(QUEUE, "MassTransit:Fault", ""), /403.*ACCESS_REFUSED/);
        const [found = "", ...more] = await missingRights(management.url, vhost);
        assert.deepEqual(more, []);
        assert.ok(
          found.startsWith(`login ${other}: may not declare exchange ${INTERFACE} and exchange ${fault(INTERFACE)}, `),
          found,
        );
        assert.match(found, wayOut("check-name-type"));
        await bringUp({ [user]: [TYPE, INTERFACE], [other]: [TYPE, INTERFACE] });
        assert.deepEqual(await missingRights(management.url, vhost), []);
        await publish(await as(other), TYPE, [INTERFACE], "a message with its interface");
        await publish(
          await as(other),
          fault(TYPE),
          [fault(INTERFACE), "MassTransit:Fault"],
          "a fault with its interface",
        );
        // The address queue:NAME declares a classic queue, and a request client a temporary one.
        const byAddress = (await as()).assertQueue(QUEUE, { durable: true });
        if (queueType === "quorum") await assert.rejects(byAddress, /406.*PRECONDITION_FAILED.*x-queue-type/);
        else await byAddress;
        const answers = { durable: false, autoDelete: true, arguments: { "x-expires": 60_000 } };
        await assert.rejects((await as()).assertQueue("HOST_bus", answers), /403.*ACCESS_REFUSED/);
        await stack.destroy();
      });
    }
  });
});
