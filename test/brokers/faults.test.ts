import { strict as assert } from "node:assert";
import type * as amqp from "amqplib";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { delayNetwork, encodeDelay } from "@rabbitmq-delay/topology";
import { crashAndRestart, onEachBroker, ownTestBroker, restart } from "../support/brokers";
import { assertNotEarly } from "../support/clock";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";

const MESSAGES = 5000;
/** At-least-once dead-lettering keeps this many unroutable messages in hand before a level stalls. */
const DEAD_LETTER_WINDOW = 32;

describe("faults", () => {
  onEachBroker((broker) => {
    it("a broker killed while 5,000 delayed messages wait loses none", async () => {
      const own = await ownTestBroker(broker().node.installation);
      const network = delayNetwork({ preset: "custom", prefix: "own", radix: 4, levels: 6, unitMs: 10 });
      const vhost = await own.management.createVhost();
      await own.management.declare(vhost, network, ["Billing"]);
      // A broker that is killed in a queue's first seconds may forget the queue, or its messages, which nobody promises to prevent.
      await restart(own);
      const channel = await openChannel(own, vhost, { isExpectedToBreak: true });
      const publisher = createDelayPublisher(channel, network);
      const dueAt = new Map<string, number>();
      await Promise.all(
        Array.from({ length: MESSAGES }, async (_, index) => {
          const receipt = await publisher.publish("Billing", String(index), { delayMs: 5000 + (index % 1000) * 10 });
          dueAt.set(String(index), receipt.dueAt.getTime());
        }),
      );
      await crashAndRestart(own);
      const reading = await openChannel(own, vhost);
      const seen = new Map<string, number>();
      await new Promise<void>((resolve, reject) => {
        reading.on("error", reject);
        const take = (message: amqp.ConsumeMessage | null): void => {
          if (message === null) return reject(new Error("the broker cancelled the consumer"));
          if (!seen.has(message.content.toString())) seen.set(message.content.toString(), Date.now());
          reading.ack(message);
          if (seen.size === MESSAGES) resolve();
        };
        reading.consume("Billing", take).catch(reject);
      });
      for (const [id, atMs] of seen) assertNotEarly(id, atMs, dueAt.get(id) ?? Infinity);
    });

    it("unroutable messages are parked, with their key, and stall nobody", async () => {
      const { management } = broker();
      const network = delayNetwork({ preset: "custom", prefix: "own", radix: 2, levels: 6, unitMs: 10 });
      const vhost = await management.createVhost();
      await management.declare(vhost, network, ["Billing"]);
      const channel = await openChannel(broker(), vhost);
      const parked = await Receiver.on(channel, [network.parkingQueue as string]);
      const billed = await Receiver.on(channel, ["Billing"]);
      const publisher = createDelayPublisher(channel, network);
      const unroutable = DEAD_LETTER_WINDOW * 4;
      await Promise.all(Array.from({ length: unroutable }, () => publisher.publish("Nobody", "x", { delayMs: 630 })));
      await Promise.all(Array.from({ length: 50 }, () => publisher.publish("Billing", "y", { delayMs: 630 })));
      // A key that no level understands strands on a level's exchange, not on the delivery exchange.
      channel.publish(network.entryExchanges[5] as string, "9.malformed", Buffer.from("z"), { persistent: true });
      await billed.until(50);
      const arrivals = await parked.until(unroutable + 1);
      const key = encodeDelay(network, 630, "Nobody").routingKey;
      const keys = arrivals.map(({ message }) => message.fields.routingKey);
      assert.deepEqual(
        [keys.filter((found) => found === key).length, keys.filter((found) => found === "9.malformed").length],
        [unroutable, 1],
      );
    });
  });
});
