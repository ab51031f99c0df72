import { strict as assert } from "node:assert";
import type { ConfirmChannel } from "amqplib";
import { encodeDelay, parseDelayNetwork } from "@rabbitmq-delay/topology";
import { TestBroker, onEachBroker } from "../support/brokers";
import { ClientExample, bringUpExample } from "../support/clientExample";
import { assertNotEarly } from "../support/clock";
import { generations, sendDelayed } from "../support/nserviceBus";
import { Arrival, Receiver } from "../support/receive";

const DELAY_MS = 2000;

/** Publishes at once and waits for the confirm. */
function publish(channel: ConfirmChannel, exchange: string, key: string, body: string): Promise<void> {
  return new Promise((resolve, reject) =>
    channel.publish(exchange, key, Buffer.from(body), { mandatory: true, persistent: true }, (error: unknown) =>
      error instanceof Error ? reject(error) : resolve(),
    ),
  );
}

function checkArrivals(arrivals: readonly Arrival[], bodies: string[], sentMs: number): void {
  assert.deepEqual(arrivals.map(({ message }) => message.content.toString()).sort(), bodies.sort());
  for (const { message, atMs } of arrivals) {
    const body = message.content.toString();
    if (body.startsWith("delayed")) assertNotEarly(body, atMs, sentMs + DELAY_MS);
  }
}

async function checkUnchanged(broker: TestBroker, { stack, vhost }: ClientExample): Promise<void> {
  await broker.management.untilReadable(vhost);
  assert.deepEqual(await stack.preview("--refresh"), []);
  await stack.destroy();
}

// The third one, of Celery, is brought up by celery.test.ts.
describe("the examples of stacks for one vendor's clients", () => {
  onEachBroker((broker) => {
    it("NServiceBus: its services send to each other as the users that the stack made", async () => {
      const example = await bringUpExample(broker(), "nservicebus");
      const names = ["Sales", "Europe.Sales"];
      const sentMs = Date.now();
      const receivers = new Map<string, Receiver>();
      for (const name of names) receivers.set(name, await Receiver.on(await example.channelOf(name), [name]));
      for (const from of names) {
        const channel = await example.channelOf(from);
        for (const to of names) {
          await sendDelayed(channel, generations.v2, to, DELAY_MS / 1000, `delayed, ${from} to ${to}`);
          await publish(channel, to, "", `at once, ${from} to ${to}`);
        }
        await publish(channel, "error", "", `error of ${from}`);
      }
      for (const to of names) {
        const bodies = names.flatMap((from) => [`delayed, ${from} to ${to}`, `at once, ${from} to ${to}`]);
        checkArrivals(await (receivers.get(to) as Receiver).until(bodies.length), bodies, sentMs);
      }
      await checkUnchanged(broker(), example);
    });

    it("MassTransit: its service gets what it sends and publishes with a delay, as the user that the stack made", async () => {
      const example = await bringUpExample(broker(), "masstransit");
      const network = parseDelayNetwork((await example.stack.outputs()).delayNetwork as object);
      const messageType = "Shop.Contracts:OrderPlaced";
      const channel = await example.channelOf("orders");
      // What its bus declares when it starts.
      await channel.assertQueue("orders", { durable: true, arguments: { "x-queue-type": "quorum" } });
      for (const name of ["orders", messageType]) await channel.assertExchange(name, "fanout", { durable: true });
      await channel.bindQueue("orders", "orders", "");
      await channel.bindExchange("orders", messageType, "");
      const receiver = await Receiver.on(channel, ["orders"]);
      const sentMs = Date.now();
      for (const destination of ["orders", messageType]) {
        const { exchange, routingKey } = encodeDelay(network, DELAY_MS, destination);
        await publish(await example.channelOf("orders"), exchange, routingKey, `delayed, ${destination}`);
      }
      await publish(channel, messageType, "", "at once");
      const bodies = ["at once", "delayed, orders", `delayed, ${messageType}`];
      checkArrivals(await receiver.until(3), bodies, sentMs);
      await checkUnchanged(broker(), example);
    });
  });
});
