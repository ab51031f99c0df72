import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { MessageReturnedError } from "@rabbitmq-delay/publish";
import { ConfirmedSender, toConfirmPort } from "@rabbitmq-delay/publish/parts";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { clients } from "../support/clients";
import { connect } from "../support/connect";
import { Receiver } from "../support/receive";

/** Routes by a header, so that messages of one id, exchange and routing key are routed or returned. */
const EXCHANGE = "by-header";

interface Sending {
  isRouted: boolean;
  messageId: string | undefined;
  sender: number;
}

const sending: fc.Arbitrary<Sending> = fc.record({
  isRouted: fc.boolean(),
  messageId: fc.constantFrom("same", "other", undefined),
  sender: fc.nat(1),
});

describe("messages that come back", () => {
  onEachBroker((broker) => {
    for (const [library, open] of clients) {
      it(`are told from those of the same id, exchange and key that arrive, with ${library}; else a lost one counts as sent`, async () => {
        const { management, node } = broker();
        const vhost = await management.createVhost();
        const reader = await (await connect(broker(), vhost)).createChannel();
        await reader.assertExchange(EXCHANGE, "headers", { durable: true });
        await reader.assertQueue("Billing", { durable: true });
        await reader.bindQueue("Billing", EXCHANGE, "", { "x-match": "all", route: "yes" });
        const receiver = await Receiver.on(reader, ["Billing"]);
        const client = await open(broker(), `${node.amqpUrl}/${vhost}`);
        afterThisTest(() => client.close());
        const senders = [0, 1].map(() => new ConfirmedSender(toConfirmPort(client.channel), {}));
        let sent = 0;
        let routed = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(sending, { minLength: 1, maxLength: 300 }), async (all) => {
            const outcomes = await Promise.allSettled(
              all.map(({ isRouted, messageId, sender }) => {
                const headers = { route: isRouted ? "yes" : "no" };
                const body = Buffer.from(String(sent++));
                return senders[sender]?.send(EXCHANGE, "key", body, { messageId, headers });
              }),
            );
            outcomes.forEach((outcome, index) => {
              const isRouted = all[index]?.isRouted === true;
              assert.equal(outcome.status, isRouted ? "fulfilled" : "rejected", `message ${index}`);
              if (outcome.status === "rejected") assert.ok(outcome.reason instanceof MessageReturnedError);
            });
            routed += all.filter(({ isRouted }) => isRouted).length;
          }),
          { numRuns: 15 },
        );
        const arrivals = await receiver.until(routed);
        assert.equal(new Set(arrivals.map(({ message }) => message.content.toString())).size, routed);
        assert.deepEqual(
          senders.map(({ unconfirmed }) => unconfirmed),
          [0, 0],
        );
      });
    }
  });
});
