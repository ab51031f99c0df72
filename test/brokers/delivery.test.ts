import { strict as assert } from "node:assert";
import type { ConsumeMessage } from "amqplib";
import { createDelayPublisher, dueHeader } from "@rabbitmq-delay/publish";
import { DelayNetwork, DelayNetworkOptions, delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { assertNotEarly } from "../support/clock";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";

const networks: [string, DelayNetworkOptions, number[]][] = [
  ["nservicebus", { preset: "nservicebus" }, [0, 1000, 2000, 3000]],
  ["nservicebus-v1", { preset: "nservicebus-v1" }, [0, 1000, 3000]],
  ["celery, quorum", { preset: "celery" }, [0, 1000, 3000]],
  ["celery, classic, prefixed", { preset: "celery", queueType: "classic", prefix: "shop" }, [0, 1000, 3000]],
  ["custom, radix 2", { preset: "custom", prefix: "own", radix: 2, levels: 8, unitMs: 10 }, [0, 10, 70, 1270, 2550]],
  ["custom, radix 4", { preset: "custom", prefix: "own", radix: 4, levels: 4, unitMs: 10 }, [0, 10, 70, 1270, 2550]],
  [
    "custom, radix 8, classic",
    { preset: "custom", prefix: "own", radix: 8, levels: 3, unitMs: 10, queueType: "classic" },
    [0, 50, 1270],
  ],
  ["custom, radix 16", { preset: "custom", prefix: "own", radix: 16, levels: 2, unitMs: 10 }, [0, 10, 70, 1270, 2550]],
];

/** Names of which suffix matching would mix the first two. */
const endpoints = ["Sales", "Europe.Sales", "Sales.Europe", "1", "Größe.Straße"];

/** Something hung for a moment, or a message went another way than it should. */
const LATEST_MS = 60_000;

/** The queues in which a message has expired, as the broker writes it into its header. */
function pathOf({ properties }: ConsumeMessage): string[] {
  const deaths = (properties.headers?.["x-death"] ?? []) as { queue: string; reason: string; count: number }[];
  return deaths.flatMap(({ queue, reason, count }) => (reason === "expired" ? Array<string>(count).fill(queue) : []));
}

describe("delivery", () => {
  onEachBroker((broker) => {
    for (const [title, options, delaysMs] of networks) {
      it(`${title}: on time, never early, once, to exactly one endpoint`, () =>
        deliver(delayNetwork(options), delaysMs));
    }

    async function deliver(network: DelayNetwork, delaysMs: number[]): Promise<void> {
      const { management } = broker();
      const vhost = await management.createVhost();
      await management.declare(vhost, network, endpoints);
      const channel = await openChannel(broker(), vhost);
      const receiver = await Receiver.on(channel, [...endpoints, network.parkingQueue as string]);
      const publisher = createDelayPublisher(channel, network);
      const expected = endpoints.flatMap((endpoint) => delaysMs.map((delayMs) => `${endpoint} ${delayMs}`));
      await Promise.all(
        endpoints.flatMap((endpoint) =>
          delaysMs.map((delayMs) => publisher.publish(endpoint, `${endpoint} ${delayMs}`, { delayMs })),
        ),
      );
      const arrivals = [...(await receiver.until(expected.length))];
      const ttlsMs = new Map(
        (await management.queues(vhost)).map(({ name, arguments: values }) => [name, Number(values["x-message-ttl"])]),
      );
      // A copy would come with its original; one more message behind them all shows that none did.
      await publisher.publish("Sales", "last", { delayMs: network.unitMs });
      await receiver.until(expected.length + 1);
      assert.equal(receiver.arrivals.length, expected.length + 1);
      assert.deepEqual(arrivals.map(({ message }) => message.content.toString()).sort(), expected.sort());
      for (const { queue, message, atMs } of arrivals) {
        assert.equal(message.content.toString().split(" ")[0], queue);
        const due = new Date(message.properties.headers?.[dueHeader] as string).getTime();
        assertNotEarly(message.content.toString(), atMs, due);
        assert.ok(atMs - due < LATEST_MS, `${message.content.toString()} came ${atMs - due} ms late`);
        // However slow the machine is: it waited in queues for its delay, and for no longer.
        const waitedMs = pathOf(message).reduce((sum, level) => sum + (ttlsMs.get(level) ?? Number.NaN), 0);
        assert.equal(`${queue} ${waitedMs}`, message.content.toString());
      }
    }
  });
});
