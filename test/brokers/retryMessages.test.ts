import { strict as assert } from "node:assert";
import { errorMonitor, getEventListeners } from "node:events";
import type { ConfirmChannel, Options } from "amqplib";

import {
  ReceivedMessage,
  RetryConsumer,
  RetryConsumerOptions,
  RetryHandler,
  RetryPolicy,
  consumeWithRetries,
  holdFor,
  throughDelayedExchange,
  throughHoldsOnDemand,
} from "@rabbitmq-delay/publish";
import { errorHeaders } from "@rabbitmq-delay/publish/parts";
import { Connection } from "rabbitmq-client";
import { rabbitmqctl } from "../../toolchain/dist/brokerControl";
import { onEachBroker, ownTestBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { openPublishChannel } from "../support/connect";
import { Receiver } from "../support/receive";

const fail: RetryHandler = () => {
  throw new Error("broken");
};

describe("failed messages as they come", () => {
  let vhost: string;
  let channel: ConfirmChannel;

  onEachBroker((broker) => {
    beforeEach(async () => {
      vhost = await broker().management.createVhost();
      channel = await openPublishChannel(broker(), vhost);
      await declareWork(channel);
    });

    async function consume(handler: RetryHandler, options: Partial<RetryConsumerOptions> = {}): Promise<RetryConsumer> {
      const own = await openPublishChannel(broker(), vhost);
      const consumer = await consumeWithRetries(own, "work", handler, { policy: RetryPolicy.none(), ...options });
      afterThisTest(() => consumer.stop());
      return consumer;
    }

    /** Ten of them would otherwise take all places, be tried each second for ever, and stop the queue. */
    it("what this client can't send again gets to the error queue without it, and says what that was", async () => {
      const client = new Connection(`${broker().node.amqpUrl}/${vhost}`);
      afterThisTest(() => client.close());
      const other = await client.acquire();
      await other.confirmSelect();
      const publish = (body: string, more: object): Promise<void> =>
        other.basicPublish({ routingKey: "work", durable: true, messageId: `id ${body}`, ...more }, body);
      await publish("typed", { headers: { tenant: "a", note: { "!": "important", value: 1 } } });
      await publish("time", { timestamp: 10 ** 16, headers: { tenant: "a" } });
      await other.close();
      const large: Options.Publish = { headers: { tenant: "a", large: "x".repeat(65_200) }, messageId: "id large" };
      channel.sendToQueue("work", Buffer.from("large"), large);
      await channel.waitForConfirms();
      await consume(fail, { policy: RetryPolicy.interval(1, 50), mechanism: throughHoldsOnDemand() });
      const arrivals = await (await Receiver.on(channel, ["work_error"])).until(3);
      const seen = arrivals.map(({ message: { content, properties } }) => {
        const { tenant, [errorHeaders.reason]: reason, [errorHeaders.omitted]: omitted } = properties.headers ?? {};
        return [content.toString(), properties.messageId, tenant, reason, omitted];
      });
      assert.deepEqual(seen.sort(), [
        ["large", "id large", "a", "broken", "headers.large"],
        ["time", "id time", "a", "broken", "timestamp"],
        ["typed", "id typed", "a", "broken", "headers.note"],
      ]);
    });

    it("whatever a handler throws, its message gets to the error queue, and does not go round for ever", async () => {
      const thrown: unknown[] = [
        Object.assign(new Error("x"), { message: { code: 5 } }),
        Object.assign(new Error("x"), { message: undefined }),
        Object.assign(new Error("x"), { name: () => 1 }),
        Object.assign(new Error("x"), { name: "n".repeat(70_000) }),
        Object.assign(Object.create(null) as object, { code: 5 }),
        Symbol("s"),
        undefined,
      ];
      for (const index of thrown.keys()) channel.sendToQueue("work", Buffer.from(String(index)));
      await consume(({ body }) => {
        throw thrown[Number(body)];
      });
      const arrivals = await (await Receiver.on(channel, ["work_error"])).until(thrown.length);
      for (const { message } of arrivals)
        assert.equal(typeof message.properties.headers?.[errorHeaders.reason], "string");
    });

    it("what a handler does to its message is neither in the next try nor in the error queue", async () => {
      const seen: unknown[] = [];
      channel.sendToQueue("work", Buffer.from("paid"), {
        messageId: "m",
        headers: { tenant: "a", context: { step: 1 } },
      });
      const handler = ({ body, properties }: ReceivedMessage): void => {
        const { tenant, context } = properties.headers as { tenant: string; context: { step: number } };
        seen.push([body.toString(), tenant, context.step, properties.messageId]);
        body.fill(42);
        context.step++;
        Object.assign(properties.headers ?? {}, { tenant: "b", log: () => 1 });
        delete properties.messageId;
        throw new Error("broken");
      };
      await consume(handler, { policy: RetryPolicy.immediate(1).intervals([50]), mechanism: throughHoldsOnDemand() });
      const [arrival] = await (await Receiver.on(channel, ["work_error"])).until(1);
      const { tenant, context } = arrival?.message.properties.headers ?? {};
      assert.deepEqual([arrival?.message.content.toString(), tenant, context], ["paid", "a", { step: 1 }]);
      assert.deepEqual(seen, Array(4).fill(["paid", "a", 1, "m"]));
    });

    it("in the error queue a message says how often it came back, and again so once it was moved back and failed anew", async () => {
      const tries: string[] = [];
      const options = { policy: RetryPolicy.interval(1, 50).ignore(RangeError), mechanism: throughHoldsOnDemand() };
      await consume(({ body, redeliveries }) => {
        tries.push(`${body.toString()} ${redeliveries}`);
        throw body.toString() === "final" ? new RangeError("broken") : new Error("broken");
      }, options);
      const failed = await Receiver.on(channel, ["work_error"]);
      for (const body of ["final", "retried"]) channel.sendToQueue("work", Buffer.from(body));
      for (const count of [2, 4]) {
        const arrivals = (await failed.until(count)).slice(count - 2);
        const told = arrivals.map(
          ({ message: { content, properties } }) =>
            `${content.toString()} ${properties.headers?.["rabbitmq-delay.redeliveries"]}`,
        );
        assert.deepEqual(told.sort(), ["final 0", "retried 1"]);
        // As a shovel moves them: all properties and headers kept.
        if (count === 2)
          for (const { message } of arrivals) channel.sendToQueue("work", message.content, message.properties);
      }
      assert.deepEqual(tries.sort(), ["final 0", "final 0", "retried 0", "retried 0", "retried 1", "retried 1"]);
    });

    it("a handler that goes on after its time keeps its place: no more are at work than concurrency says", async () => {
      let [atWork, most] = [0, 0];
      const ends: (() => void)[] = [];
      for (const body of ["a", "b"]) channel.sendToQueue("work", Buffer.from(body));
      const handler = async (): Promise<void> => {
        most = Math.max(most, ++atWork);
        await new Promise<void>((resolve) => ends.push(resolve));
        atWork--;
      };
      const failed = await Receiver.on(channel, ["work_error"]);
      await consume(handler, { policy: RetryPolicy.immediate(3), concurrency: 1, handlerTimeoutMs: 20 });
      await failed.until(1);
      assert.equal(ends.length, 1, "neither tried at once nor beside the next one");
      ends[0]?.();
      await failed.until(2);
      assert.deepEqual([ends.length, most], [2, 1]);
    });

    it("a consumer may not fail into its own queue, where a message would go round for ever", async () => {
      await assert.rejects(consume(fail, { errorQueue: "work" }), /errorQueue: "work" .*another queue/);
    });

    it("what the broker returns and yet delivers later, as the archived plugin does, is not published again each second", async () => {
      await channel.assertExchange("delayed", "direct");
      const events: string[] = [];
      let heard: () => void = () => undefined;
      const first = new Promise<void>((resolve) => (heard = resolve));
      channel.sendToQueue("work", Buffer.from("x"));
      const onFailure = ({ kind }: { kind: string }): void => {
        events.push(kind);
        heard();
      };
      await consume(fail, {
        policy: RetryPolicy.interval(1, 50),
        mechanism: throughDelayedExchange("delayed"),
        onFailure,
      });
      await first;
      assert.deepEqual(events, ["redelivered"]);
    });

    it("consumers that the broker cancels leave nothing on their channel, or on a signal that outlives them", async () => {
      const own = await openPublishChannel(broker(), vhost);
      const { signal } = new AbortController();
      const count = (): number[] => [
        ...["close", errorMonitor].map((event) => own.listenerCount(event)),
        getEventListeners(signal, "abort").length,
      ];
      let before: number[] | undefined;
      for (let round = 0; round < 3; round++) {
        await declareWork(channel);
        const options = { policy: RetryPolicy.none(), signal };
        const consumer = await consumeWithRetries(own, "work", () => undefined, options);
        await channel.deleteQueue("work");
        await assert.rejects(consumer.ended, /the broker cancelled the consumer of work/);
        before ??= count();
      }
      assert.deepEqual(count(), before);
      assert.equal(before?.[2], 0);
    });

    it("holdFor sends what the caller gave in the call, and declares no queue for what it refuses", async () => {
      const hold = { delayMs: 50, exchange: "", routingKey: "work" };
      const context = { invoice: 0 };
      const held: Promise<unknown>[] = [];
      for (context.invoice = 0; context.invoice < 3; context.invoice++)
        held.push(holdFor(channel, hold, { body: String(context.invoice), headers: { context } }));
      await Promise.all(held);
      const arrivals = await (await Receiver.on(channel, ["work"])).until(3);
      for (const { message } of arrivals)
        assert.deepEqual(message.properties.headers?.context, { invoice: Number(message.content.toString()) });
      for (const headers of [new Map([["a", 1]]), new Date(), "abc", { n: Number.NaN }] as never[])
        await assert.rejects(
          holdFor(channel, { ...hold, delayMs: 7777 }, { body: "", headers }),
          /^MessageRefusedError/,
        );
      for (const maxQueues of [Number.NaN, {}, null, -1] as never[])
        await assert.rejects(holdFor(channel, hold, { body: "" }, { maxQueues }), /maxQueues: .*whole number/);
      const other = await openPublishChannel(broker(), vhost);
      await assert.rejects(other.checkQueue("hold.7777+600000.0::work"), /NOT_FOUND/);
    });

    it("during an alarm a consumer starts and works, and one whose connection is blocked stops all the same", async () => {
      const own = await ownTestBroker(broker().node.installation);
      const alarmed = await own.management.createVhost();
      const publisher = await openPublishChannel(own, alarmed);
      await declareWork(publisher);
      publisher.sendToQueue("work", Buffer.from("x"), { persistent: true });
      await publisher.waitForConfirms();
      const options = { policy: RetryPolicy.none(), confirmTimeoutMs: 20_000 };
      const early = await consumeWithRetries(publisher, "work_error", () => undefined, {
        ...options,
        errorQueue: "work",
      });
      await rabbitmqctl(own.node, "set_vm_memory_high_watermark", "0.00001");
      try {
        // The broker blocks a connection when it publishes.
        publisher.sendToQueue("work_error", Buffer.from("y"), { persistent: true });
        let wake: () => void = () => undefined;
        const handled = new Promise<void>((resolve) => (wake = resolve));
        const late = await consumeWithRetries(await openPublishChannel(own, alarmed), "work", () => wake(), options);
        await handled;
        await late.stop();
        await early.stop();
        await early.ended;
      } finally {
        await rabbitmqctl(own.node, "set_vm_memory_high_watermark", "0.4");
      }
    });
  });

  async function declareWork(on: ConfirmChannel): Promise<void> {
    for (const queue of ["work", "work_error"])
      await on.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } });
  }
});
