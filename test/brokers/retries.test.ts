import { strict as assert } from "node:assert";
import type { ConsumeMessage, GetMessage, Options } from "amqplib";
import {
  ReceivedMessage,
  RetryEvent,
  RetryMechanism,
  RetryPolicy,
  consumeWithRetries,
  createDelayPublisher,
  dueHeader,
  nserviceBusDelayHeader,
  throughDeclared,
  throughHoldsOnDemand,
} from "@rabbitmq-delay/publish";
import { errorHeaders } from "@rabbitmq-delay/publish/parts";
import {
  PolicyPlan,
  delayNetwork,
  planRetry,
  planRetryIntervals,
  retryIntervals,
  workRetry,
} from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { assertNotEarly } from "../support/clock";
import { openPublishChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { Receiver } from "../support/receive";
import {
  DELAYS,
  RetryWork,
  Try,
  Way,
  bindIntervals,
  declareNetwork,
  intervals,
  network,
  setUpWork,
  until,
  untilReady,
  ways,
} from "../support/retryWork";

describe("consumeWithRetries", () => {
  onEachBroker((broker, { isNewest }) => {
    for (const [name, way] of Object.entries(ways).filter(([, { isNew }]) => isNewest || !isNew)) {
      const delaysMs = way.delaysMs ?? DELAYS;
      const errorQueue = way.errorQueue ?? "work_error";

      it(`${name}: exactly the promised tries, not early, with all that the message had; then success`, async () => {
        const { channel, tries, consume, publish } = await setUp(broker(), way);
        const policy = RetryPolicy.immediate(1).intervals(delaysMs);
        const consumer = await consume({ policy }, ({ previousTries }) => {
          if (previousTries < 5) throw new Error("not yet");
        });
        await publish();
        await until(() => tries.length === 6);
        await consumer.stop();
        // No seventh can come from anywhere: what is settled is in no queue of the vhost.
        const queues = (await broker().management.queues(vhost)).map((queue) => queue.name);
        for (const queue of queues) assert.equal((await channel.checkQueue(queue)).messageCount, 0, queue);
        assert.deepEqual(
          tries.map(({ message }) => [message.previousTries, message.redeliveries]),
          [
            [0, 0],
            [1, 0],
            [2, 1],
            [3, 1],
            [4, 2],
            [5, 2],
          ],
        );
        for (const { message } of tries) {
          assert.equal(message.routingKey, "paid.now");
          assert.equal(message.exchange, "orders");
          assert.equal(message.body.toString(), "invoice");
          const { headers, ...properties } = message.properties;
          assert.deepEqual(headers, { tenant: "a" });
          assert.deepEqual(properties, { contentType: "text/plain", messageId: "m-1", priority: 0, type: "invoice" });
        }
        const [, first, second, , third] = tries as [Try, Try, Try, Try, Try];
        assertNotEarly("the first retry", second.atMs, first.atMs + (delaysMs[0] as number));
        assertNotEarly("the second retry", third.atMs, second.atMs + (delaysMs[1] as number));
        assert.equal((await channel.checkQueue(errorQueue)).messageCount, 0);
      });

      it(`${name}: what never succeeds ends in the error queue, with the right count`, async () => {
        const { channel, tries, consume, publish } = await setUp(broker(), way);
        await consume({ policy: RetryPolicy.intervals(delaysMs) }, () => {
          throw new TypeError("still broken");
        });
        await publish();
        const [arrival] = await (await Receiver.on(channel, [errorQueue])).until(1);
        const headers = arrival?.message.properties.headers ?? {};
        assert.equal(headers[errorHeaders.tries], 3);
        assert.equal(headers[errorHeaders.type], "TypeError");
        assert.equal(headers.tenant, "a");
        assert.equal(arrival?.message.content.toString(), "invoice");
        assert.equal(tries.length, 3);
        assert.equal((await channel.checkQueue("work")).messageCount, 0);
      });
    }

    it("what used up its tries goes to the error queue, with the reason; ignored errors at once", async () => {
      const { channel, tries, consume, publish } = await setUp(broker(), ways["interval queues"] as Way);
      const policy = RetryPolicy.immediate(1).interval(1, 40).ignore(RangeError);
      await consume({ policy }, ({ body }) => {
        throw body.toString() === "odd" ? new RangeError("never again") : new TypeError("still broken");
      });
      const failed = await Receiver.on(channel, ["work_error"]);
      await publish("even");
      await failed.until(1);
      await publish("odd");
      const arrivals = await failed.until(2);
      const headersOf = (index: number): Record<string, unknown> => arrivals[index]?.message.properties.headers ?? {};
      assert.deepEqual(
        [0, 1].map((index) => [
          headersOf(index)[errorHeaders.type],
          headersOf(index)[errorHeaders.reason],
          headersOf(index)[errorHeaders.tries],
          headersOf(index)[errorHeaders.queue],
          headersOf(index).tenant,
        ]),
        [
          ["TypeError", "still broken", 4, "work", "a"],
          ["RangeError", "never again", 1, "work", "a"],
        ],
      );
      assert.ok(!Number.isNaN(Date.parse(String(headersOf(0)[errorHeaders.time]))));
      assert.equal(tries.length, 5);
    });

    it("a consumer without the helper rejects into the retry queues where the stack says so, and keeps the routing key", async () => {
      vhost = await broker().management.createVhost();
      const channel = await openPublishChannel(broker(), vhost);
      await declareOverAmqp(channel, planRetry(workRetry({ queue: "plain", delays: [60], rejected: "retry" })));
      const arrivals: { key: string; atMs: number }[] = [];
      await channel.consume("plain", (message) => {
        if (message === null) return;
        arrivals.push({ key: message.fields.routingKey, atMs: Date.now() });
        if (arrivals.length < 3) channel.reject(message, false);
        else channel.ack(message);
      });
      channel.publish("plain", "paid.now", Buffer.from("x"), { persistent: true });
      await until(() => arrivals.length === 3);
      assert.deepEqual(new Set(arrivals.map(({ key }) => key)), new Set(["paid.now"]));
      const [first, second, third] = arrivals.map(({ atMs }) => atMs) as [number, number, number];
      assert.ok(second - first >= 60 && third - second >= 60, `after ${second - first} and ${third - second} ms`);
    });

    it("queues that share the interval queues get only their own messages", async () => {
      const { channel, publish, consume } = await setUp(broker(), ways["interval queues"] as Way);
      await channel.assertQueue("other", { durable: true, arguments: { "x-queue-type": "quorum" } });
      await bindIntervals(intervals)(channel, "other");
      await channel.assertQueue("other_error");
      const seen: string[] = [];
      const options = { policy: RetryPolicy.interval(1, 40), mechanism: throughDeclared(intervals) };
      const handler = (queue: string) => (message: ReceivedMessage) => {
        seen.push(`${queue} ${message.body.toString()} ${message.redeliveries}`);
        if (message.redeliveries === 0) throw new Error("once more");
      };
      const other = await consumeWithRetries(
        await openPublishChannel(broker(), vhost),
        "other",
        handler("other"),
        options,
      );
      afterThisTest(() => other.stop());
      await consume(options, handler("work"));
      await publish("mine");
      channel.sendToQueue("other", Buffer.from("yours"));
      await until(() => seen.length === 4);
      assert.deepEqual(seen.sort(), ["other yours 0", "other yours 1", "work mine 0", "work mine 1"]);
    });

    it("a copy that is no copy of ours goes to the error queue", async () => {
      const { channel, tries, consume, publish } = await setUp(broker(), ways["interval queues"] as Way);
      await consume({ policy: RetryPolicy.immediate(3) }, () => undefined);
      const failed = await Receiver.on(channel, ["work_error"]);
      await publish("odd", { "rabbitmq-delay.redeliveries": "many" });
      const [arrival] = await failed.until(1);
      assert.equal(arrival?.message.properties.headers?.[errorHeaders.type], "MalformedCopyError");
      assert.equal(tries.length, 0);
    });

    it("a handler that takes too long has failed, and its signal says so", async () => {
      const { tries, consume, publish } = await setUp(broker(), ways["interval queues"] as Way);
      const reasons: string[] = [];
      await consume({ policy: RetryPolicy.immediate(1), handlerTimeoutMs: 30 }, async ({ previousTries, signal }) => {
        if (previousTries > 0) return;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        reasons.push(String(signal.reason));
      });
      await publish();
      await until(() => tries.length === 2 && reasons.length === 1);
      assert.match(reasons[0] as string, /HandlerTimeoutError: .*30 ms/);
    });

    it("stops gracefully: what runs finishes, the rest is given back; an abort gives all back", async () => {
      const { channel, tries, consume, publish } = await setUp(broker(), ways["interval queues"] as Way);
      let finish: () => void = () => undefined;
      const options = { policy: RetryPolicy.none(), prefetch: 5, concurrency: 1 };
      const consumer = await consume(options, () => new Promise<void>((resolve) => (finish = resolve)));
      for (const body of ["a", "b", "c"]) await publish(body);
      await until(() => tries.length === 1);
      const stopped = consumer.stop();
      finish();
      await stopped;
      await consumer.ended;
      await untilReady(channel, 2);

      const abort = new AbortController();
      const second = await consume({ ...options, signal: abort.signal }, ({ signal }) => {
        return new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
      });
      await until(() => tries.length === 2);
      abort.abort();
      await second.ended;
      await untilReady(channel, 2);
      assert.equal((await channel.checkQueue("work_error")).messageCount, 0);
    });

    it("over a network whose binding has patterns, messages come back by the destination that the consumer says", async () => {
      const way = ways["a delay network"] as Way;
      const mechanism = throughDeclared(network, { destination: "orders.retry" });
      const { tries, consume, publish } = await setUp(broker(), {
        mechanism,
        declare: (channel, queue) => declareNetwork(channel, { name: queue, patterns: ["orders.*"] }),
      });
      await consume({ policy: RetryPolicy.interval(1, 40) }, ({ redeliveries }) => {
        if (redeliveries === 0) throw new Error("not yet");
      });
      await publish();
      await until(() => tries.length === 2);
      assert.equal(tries[1]?.message.routingKey, "paid.now");
      assert.notEqual(way.mechanism, mechanism);
    });

    it("a delayed message that fails passes the same queues of the network again, twice: it is no loop", async () => {
      const { channel, tries, consume } = await setUp(broker(), ways["a delay network"] as Way);
      await consume({ policy: RetryPolicy.interval(2, 50) }, ({ redeliveries }) => {
        if (redeliveries < 2) throw new Error("not yet");
      });
      await createDelayPublisher(channel, network).publish("work", "invoice", { delayMs: 50 });
      await until(() => tries.length === 3);
      assert.ok(tries[0]?.message.properties.headers?.["x-death"] !== undefined, "it came over the network");
    });

    it("a copy that comes back to no queue is parked: a forgotten binding loses no message", async () => {
      const { channel, consume, publish } = await setUp(broker(), {
        mechanism: throughDeclared(intervals),
        declare: (on) => declareOverAmqp(on, planRetryIntervals(intervals)),
      });
      const { policy } = planRetryIntervals(intervals);
      const { name, pattern, applyTo, priority, definition } = policy as PolicyPlan;
      await broker().management.call("PUT", `policies/${vhost}/${name}`, {
        pattern,
        "apply-to": applyTo,
        priority,
        definition,
      });
      await consume({ policy: RetryPolicy.interval(1, 40) }, () => {
        throw new Error("not yet");
      });
      await publish();
      const [arrival] = await (await Receiver.on(channel, ["mt-delay-parking"])).until(1);
      assert.equal(arrival?.message.content.toString(), "invoice");
      assert.equal(arrival?.message.fields.routingKey, "work", "whose it is");
    });

    it("a message that is moved back out of the error queue gets all its delayed retries again", async () => {
      const { channel, tries, consume, publish } = await setUp(broker(), ways["interval queues"] as Way);
      let isBroken = true;
      await consume({ policy: RetryPolicy.intervals(DELAYS) }, ({ redeliveries }) => {
        if (isBroken || redeliveries < 2) throw new Error("still broken");
      });
      const failed = await Receiver.on(await openPublishChannel(broker(), vhost), ["work_error"]);
      await publish();
      const [arrival] = await failed.until(1);
      isBroken = false;
      // As a shovel moves it: all properties and headers kept.
      const { content, properties } = arrival?.message as ConsumeMessage;
      channel.sendToQueue("work", content, properties as Options.Publish);
      await until(() => tries.length === 6);
      const seen = tries.map(({ message }) => [message.redeliveries, message.previousTries]);
      assert.deepEqual(seen.slice(3), [
        [0, 0],
        [1, 1],
        [2, 2],
      ]);
      assert.deepEqual(tries[5]?.message.properties, tries[0]?.message.properties, "as it was first published");
      assert.equal((await channel.checkQueue("work_error")).messageCount, 0);
    });

    it("a copy says when it itself is due, whatever the message says that failed", async () => {
      const long = retryIntervals({ intervals: [60_000] });
      const nserviceBus = delayNetwork({ preset: "nservicebus" });
      const headers = { tenant: "a", [dueHeader]: "2020-01-01T00:00:00.000Z", [nserviceBusDelayHeader]: 5 };
      const cases: [RetryMechanism, Way["declare"], string, number][] = [
        [throughDeclared(long), bindIntervals(long), "mt-delay-60000", 60_000],
        [
          throughDeclared(nserviceBus),
          (channel, queue) => declareNetwork(channel, { name: queue }, nserviceBus),
          "nsb.v2.delay-level-05",
          60_000,
        ],
      ];
      for (const [mechanism, declare, waitsIn, delayMs] of cases) {
        const { channel, tries, consume, publish } = await setUp(broker(), { mechanism, declare });
        const start = Date.now();
        const consumer = await consume({ policy: RetryPolicy.interval(1, delayMs) }, () => {
          throw new Error("not yet");
        });
        await publish("invoice", headers);
        let copy: GetMessage | false = false;
        while (copy === false) copy = await channel.get(waitsIn, { noAck: true });
        const due = Date.parse(String(copy.properties.headers?.[dueHeader]));
        assert.ok(due >= start + delayMs && due <= Date.now() + delayMs, new Date(due).toISOString());
        if (waitsIn.startsWith("nsb")) assert.equal(copy.properties.headers?.[nserviceBusDelayHeader], 60);
        channel.sendToQueue("work", copy.content, copy.properties as Options.Publish);
        await until(() => tries.length === 2);
        assert.deepEqual(tries[1]?.message.properties.headers, headers, "the handler gets what was published");
        await consumer.stop();
      }
    });

    it("a process that stands still between declare and copy loses no message with the hold queue", async () => {
      const { tries, publish } = await setUp(broker(), ways["hold queues on demand"] as Way);
      const channel = await openPublishChannel(broker(), vhost);
      let stalls = 0;
      const stalling = new Proxy(channel, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown;
          if (name !== "assertQueue") return typeof value === "function" ? (value.bind(target) as unknown) : value;
          return async (queue: string, options: object) => {
            await target.assertQueue(queue, options);
            // Nothing else of this process runs meanwhile, no timer either; the queue's lease does.
            for (const end = Date.now() + (stalls++ === 0 ? 4000 : 0); Date.now() < end;);
          };
        },
      });
      const mechanism = throughHoldsOnDemand({ leaseMs: 3000 });
      const events: RetryEvent[] = [];
      const handler = (message: ReceivedMessage): void => {
        tries.push({ atMs: Date.now(), message });
        if (message.redeliveries === 0) throw new Error("not yet");
      };
      const options = { policy: RetryPolicy.interval(1, 2000), mechanism, confirmTimeoutMs: 2500 };
      const onFailure = (event: RetryEvent): void => void events.push(event);
      const consumer = await consumeWithRetries(stalling, "work", handler, { ...options, onFailure });
      afterThisTest(() => consumer.stop());
      await publish();
      await until(() => tries.some(({ message }) => message.redeliveries === 1));
      assert.equal(events[0]?.kind, "given-back", "the copy's queue may go before the copy is due");
    });
  });

  let vhost: string;

  /** A queue `work` and a mechanism in a vhost of its own, which the test may use, too. */
  async function setUp(...parameters: Parameters<typeof setUpWork>): Promise<RetryWork> {
    const made = await setUpWork(...parameters);
    ({ vhost } = made);
    return made;
  }
});
