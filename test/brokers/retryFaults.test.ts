import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { ConfirmChannel } from "amqplib";
import { ReceivedMessage, RetryPolicy, consumeWithRetries, throughDeclared } from "@rabbitmq-delay/publish";
import { errorHeaders } from "@rabbitmq-delay/publish/parts";
import { planRetryIntervals, planReturnBinding, retryIntervals } from "@rabbitmq-delay/topology";
import { crashAndRestart, onEachBroker, ownTestBroker, untilRegistered } from "../support/brokers";
import { amqplibFor, openPublishChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { Receiver } from "../support/receive";

const intervals = retryIntervals({ intervals: [100, 5000], queueType: "quorum", prefix: "own-retry" });
const mechanism = throughDeclared(intervals);
const MESSAGES = 200;

describe("faults of retries", () => {
  onEachBroker((broker) => {
    it("a consumer killed between copy and ack makes one duplicate, and loses nothing", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openPublishChannel(broker(), vhost);
      await declareWork(channel);
      channel.sendToQueue("work", Buffer.from("x"), { persistent: true, messageId: "m-1" });
      const script = join(__dirname, "programs", "killedConsumer.js");
      const url = `${broker().node.amqpUrl}/${vhost}`;
      const child = spawn(process.execPath, [script, url, "work", JSON.stringify(intervals)], { stdio: "inherit" });
      const [, signal] = (await once(child, "close")) as [number | null, string | null];
      assert.equal(signal, "SIGKILL", "it was killed on its way");

      const seen: string[] = [];
      await new Promise<void>((resolve, reject) => {
        const handler = ({ properties, redeliveries }: ReceivedMessage): void => {
          seen.push(`${properties.messageId} ${redeliveries}`);
          if (seen.length === 2) resolve();
        };
        consumeWithRetries(channel, "work", handler, { policy: RetryPolicy.none() }).catch(reject);
      });
      assert.deepEqual(seen.sort(), ["m-1 0", "m-1 1"], "the original, and the copy of the same id");
    });

    it("a channel that closes in the handler loses nothing: the broker delivers again", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openPublishChannel(broker(), vhost);
      await declareWork(channel);
      const options = { policy: RetryPolicy.interval(1, 100), mechanism };
      const closing = await openPublishChannel(broker(), vhost);
      const consumer = await consumeWithRetries(closing, "work", () => closing.close(), options);
      channel.sendToQueue("work", Buffer.from("x"), { persistent: true });
      await assert.rejects(consumer.ended, /the channel that consumes work closed/);
      const [arrival] = await (await Receiver.on(channel, ["work"])).until(1);
      assert.equal(arrival?.message.content.toString(), "x");
    });

    it("a connection that is being closed while a handler ends loses nothing, and breaks nothing", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openPublishChannel(broker(), vhost);
      await declareWork(channel);
      const connection = await amqplibFor(broker()).connect(`${broker().node.amqpUrl}/${vhost}`);
      let isClosed: Promise<void> | undefined;
      const handler = (): void => void (isClosed = connection.close());
      const options = { policy: RetryPolicy.none() };
      const consumer = await consumeWithRetries(await connection.createConfirmChannel(), "work", handler, options);
      channel.sendToQueue("work", Buffer.from("x"), { persistent: true });
      await assert.rejects(consumer.ended, /the channel that consumes work closed/);
      await isClosed;
      const [arrival] = await (await Receiver.on(channel, ["work"])).until(1);
      assert.equal(arrival?.message.fields.redelivered, true);
    });

    it("an abort while the connection is being closed breaks nothing", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openPublishChannel(broker(), vhost);
      await declareWork(channel);
      channel.sendToQueue("work", Buffer.from("x"), { persistent: true });
      const connection = await amqplibFor(broker()).connect(`${broker().node.amqpUrl}/${vhost}`);
      const abort = new AbortController();
      await new Promise<void>((resolve) => {
        const options = { policy: RetryPolicy.none(), signal: abort.signal };
        const handler = (): void => resolve();
        void connection.createConfirmChannel().then((own) => consumeWithRetries(own, "work", handler, options));
      });
      const isClosed = connection.close();
      abort.abort();
      await isClosed;
      assert.equal((await channel.checkQueue("work_error")).messageCount, 0);
    });

    // Given back, they would come again before all others: the healthy messages would never be handled.
    it("messages that a policy throws at go to the error queue, with its error, and those behind them are handled", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openPublishChannel(broker(), vhost);
      await declareWork(channel);
      for (let index = 0; index < 10; index++) channel.sendToQueue("work", Buffer.from("bad"));
      channel.sendToQueue("work", Buffer.from("good"));
      await channel.waitForConfirms();
      const policy = RetryPolicy.interval(1, 100).ignore(() => {
        throw new Error("a mistake in the predicate");
      });
      const errors = await Receiver.on(channel, ["work_error"]);
      const own = await openPublishChannel(broker(), vhost);
      await new Promise<void>((resolve, reject) => {
        const handler = ({ body }: ReceivedMessage): void => {
          if (body.toString() === "good") return resolve();
          throw new Error("the database is down");
        };
        consumeWithRetries(own, "work", handler, { policy, mechanism }).catch(reject);
      });
      const [arrival] = await errors.until(10);
      const reason = String(arrival?.message.properties.headers?.[errorHeaders.reason]);
      assert.match(reason, /a mistake in the predicate.*the database is down/);
    });

    // Else the second service would give up on messages that it hardly tried.
    it("a copy that leaves its queue for another service's gets all the tries of that one", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openPublishChannel(broker(), vhost);
      await declareWork(channel);
      const toFallback = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work" };
      const queue = { "x-queue-type": "quorum", "x-message-ttl": 500, ...toFallback };
      await channel.assertQueue("first", { durable: true, arguments: queue });
      await declareOverAmqp(channel, { exchanges: [], queues: [], bindings: [planReturnBinding(intervals, "first")] });
      const fail = (): void => {
        throw new Error("not yet");
      };
      const options = { policy: RetryPolicy.interval(2, 100), mechanism, errorQueue: "work_error" };
      const onFailure = (): void => void first.stop();
      const first = await consumeWithRetries(channel, "first", fail, { ...options, onFailure });
      channel.sendToQueue("first", Buffer.from("x"));
      await first.ended;
      const seen: number[][] = [];
      const handler = ({ redeliveries, previousTries }: ReceivedMessage): void => {
        seen.push([redeliveries, previousTries]);
        fail();
      };
      await consumeWithRetries(await openPublishChannel(broker(), vhost), "work", handler, options);
      const [arrival] = await (await Receiver.on(channel, ["work_error"])).until(1);
      assert.deepEqual(seen, [
        [0, 0],
        [1, 1],
        [2, 2],
      ]);
      assert.equal(arrival?.message.properties.headers?.[errorHeaders.tries], 3);
    });

    it("a broker killed while failed messages wait loses none", async () => {
      const own = await ownTestBroker(broker().node.installation);
      const vhost = await own.management.createVhost();
      const channel = await openPublishChannel(own, vhost, { isExpectedToBreak: true });
      await declareWork(channel);
      await untilRegistered(own, vhost);
      const returned = new Set<string>();
      let failures = 0;
      let wake: () => void = () => undefined;
      const handler = ({ body, redeliveries }: ReceivedMessage): void => {
        if (redeliveries > 0) returned.add(body.toString());
        wake();
        if (redeliveries === 0) throw new Error("not yet");
      };
      const onFailure = (): void => {
        failures++;
        wake();
      };
      const until = async (condition: () => boolean): Promise<void> => {
        while (!condition()) await new Promise<void>((resolve) => (wake = resolve));
      };
      const options = { policy: RetryPolicy.interval(1, 5000), mechanism, onFailure };
      await consumeWithRetries(channel, "work", handler, options);
      for (let index = 0; index < MESSAGES; index++)
        channel.sendToQueue("work", Buffer.from(String(index)), { persistent: true });
      await until(() => failures >= MESSAGES);
      await crashAndRestart(own);
      await consumeWithRetries(await openPublishChannel(own, vhost), "work", handler, options);
      await until(() => returned.size === MESSAGES);
    });
  });

  async function declareWork(channel: ConfirmChannel): Promise<void> {
    for (const queue of ["work", "work_error"])
      await channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } });
    const { exchanges, queues, bindings } = planRetryIntervals(intervals);
    const returned = planReturnBinding(intervals, "work");
    await declareOverAmqp(channel, { exchanges, queues, bindings: [...bindings, returned] });
  }
});
