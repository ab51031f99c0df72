import { strict as assert } from "node:assert";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { isBrokerHeader } from "@rabbitmq-delay/publish/parts";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { afterThisTest } from "../support/cleanup";
import { clients } from "../support/clients";

/** More than the 32 messages that at-least-once dead-lettering has in hand at once, so that they would stop a level for all. */
const AGAIN = 40;
const FRESH = 20;

describe("publishing again what was received, with its headers", () => {
  // 3 units in radix 2 are two levels, and so a second hop.
  const network = delayNetwork({ preset: "custom", prefix: "again", radix: 2, levels: 6, unitMs: 100 });
  const delayMs = 300;

  onEachBroker((broker) => {
    for (const [library, open] of clients) {
      it(`arrives over several levels, and stops no other message; published with ${library}`, async () => {
        const { management, node } = broker();
        const vhost = await management.createVhost();
        await management.declare(vhost, network, ["Billing"]);
        const reader = await openChannel(broker(), vhost);
        const client = await open(broker(), `${node.amqpUrl}/${vhost}`);
        afterThisTest(() => client.close());
        const publisher = createDelayPublisher(client.channel, network);
        const arrived: string[] = [];
        const failures: Error[] = [];
        let wake: () => void = () => undefined;
        await reader.consume("Billing", (message) => {
          if (message === null) return;
          const text = message.content.toString();
          const headers = message.properties.headers ?? {};
          // It has been delayed once, so the broker has written where it was.
          if (/^first/.test(text)) {
            assert.ok(Object.keys(headers).some(isBrokerHeader));
            publisher.publish("Billing", text.replace("first", "again"), { delayMs, headers }).then(
              () => reader.ack(message),
              (error: Error) => failures.push(error),
            );
          } else {
            arrived.push(text);
            reader.ack(message);
          }
          wake();
        });
        const publishAll = (what: string, count: number): Promise<unknown> => {
          const texts = Array.from({ length: count }, (_, index) => `${what} ${index}`);
          return Promise.all(texts.map((text) => publisher.publish("Billing", text, { delayMs })));
        };
        await publishAll("first", AGAIN);
        while (arrived.length < AGAIN && failures.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        await publishAll("fresh", FRESH);
        while (arrived.length < AGAIN + FRESH) await new Promise<void>((resolve) => (wake = resolve));
        assert.deepEqual(failures, []);
        assert.equal(new Set(arrived).size, AGAIN + FRESH);
      });
    }
  });
});
