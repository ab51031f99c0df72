import { strict as assert } from "node:assert";
import type { ConfirmChannel } from "amqplib";
import type { Channel } from "rabbitmq-client";
import {
  ClientMessage,
  MessageRefusedError,
  MessageReturnedError,
  PublishChannel,
  RecoveryOptions,
  Recovery,
  RetryPolicy,
  TriedMessage,
  createMessageRecoverer,
} from "@rabbitmq-delay/publish";
import { errorHeaders } from "@rabbitmq-delay/publish/parts";
import { planRetryIntervals } from "@rabbitmq-delay/topology";
import { TestBroker, onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { clients } from "../support/clients";
import { assertNotEarly } from "../support/clock";
import { Receiver } from "../support/receive";
import { DELAYS, RetryWork, Way, intervals, setUpWork, until, ways } from "../support/retryWork";

/** Consumers as users of each library write them: they get a message, and settle it as they are told. */
const consumers: Record<
  string,
  (channel: PublishChannel, handle: (message: ClientMessage) => Promise<Recovery["settle"]>) => Promise<unknown>
> = {
  amqplib: (own, handle) => {
    const channel = own as unknown as ConfirmChannel;
    return channel.consume("work", async (message) => {
      if (message === null) return;
      const settle = await handle(message);
      unlessClosed(() => (settle === "reject" ? channel.reject(message, true) : channel.ack(message)));
    });
  },
  "rabbitmq-client": (own, handle) => {
    const channel = own as unknown as Channel;
    return channel.basicConsume({ queue: "work" }, async (message) => {
      const { deliveryTag } = message;
      const settle = await handle(message);
      unlessClosed(() =>
        settle === "reject" ? channel.basicNack({ deliveryTag }) : channel.basicAck({ deliveryTag }),
      );
    });
  },
};

/** A channel that has closed settles nothing: the broker delivers its messages again. */
function unlessClosed(settle: () => void): void {
  try {
    settle();
  } catch (error) {
    assert.match((error as Error).message, /closed/i);
  }
}

interface FailingWork extends RetryWork {
  seen: { atMs: number; message: TriedMessage }[];
  recoveries: Recovery[];
  /** Reasons why messages could not be passed on. */
  errors: unknown[];
  /** Ends the consumer with its connection. */
  stop: () => Promise<void>;
}

describe("createMessageRecoverer", () => {
  onEachBroker((broker, { isNewest }) => {
    for (const [library, open] of clients) {
      // rabbitmq-client can't reject a message, which the broker's own delayed retry needs.
      const isPossible = ({ isNew }: Way): boolean => isNew !== true || (isNewest && library === "amqplib");
      for (const [name, way] of Object.entries(ways).filter(([, one]) => isPossible(one))) {
        const delaysMs = way.delaysMs ?? DELAYS;
        const errorQueue = way.errorQueue ?? "work_error";
        const settle = way.isNew === true ? "reject" : "acknowledge";

        it(`${library}, ${name}: messages come back as they were, not early, and end in the error queue with their count`, async () => {
          const policy = RetryPolicy.intervals(delaysMs);
          const { channel, publish, seen, recoveries } = await setUp(broker(), [library, open], way, { policy });
          const failed = await Receiver.on(channel, [errorQueue]);
          await publish();
          const [arrival] = await failed.until(1);
          assert.deepEqual(recoveries.slice(0, 2), [
            { kind: "redelivered", delayMs: delaysMs[0], redeliveries: 1, settle },
            { kind: "redelivered", delayMs: delaysMs[1], redeliveries: 2, settle },
          ]);
          assert.deepEqual(
            seen.map(({ message }) => [message.previousTries, message.redeliveries]),
            [0, 1, 2].map((count) => [count, count]),
          );
          for (const { message } of seen) {
            const { body, routingKey, exchange, properties } = message;
            const { headers, ...others } = properties;
            assert.deepEqual(
              [exchange, routingKey, body.toString(), headers],
              ["orders", "paid.now", "invoice", { tenant: "a" }],
            );
            assert.deepEqual(others, { contentType: "text/plain", messageId: "m-1", priority: 0, type: "invoice" });
          }
          const [first, second, third] = seen.map(({ atMs }) => atMs) as [number, number, number];
          assertNotEarly("the first retry", second, first + (delaysMs[0] as number));
          assertNotEarly("the second retry", third, second + (delaysMs[1] as number));
          const headers = arrival?.message.properties.headers ?? {};
          assert.deepEqual(
            [headers[errorHeaders.tries], headers[errorHeaders.type], headers.tenant],
            [3, "TypeError", "a"],
          );
          assert.equal(arrival?.message.content.toString(), "invoice");
          await until(() => recoveries.length === 3);
          assert.deepEqual(recoveries[2], { kind: "failed", errorQueue, tries: 3, settle: "acknowledge" });
          assert.equal((await channel.checkQueue("work")).messageCount, 0);
        });
      }

      it(`${library}: shares its counts with consumeWithRetries, and counts the tries that it is told`, async () => {
        const policy = RetryPolicy.intervals(DELAYS);
        const way = ways["interval queues"] as Way;
        const work = await setUp(broker(), [library, open], way, { policy }, 3);
        await work.publish();
        await until(() => work.recoveries.length === 1);
        await work.stop();
        await work.consume({ policy }, () => undefined);
        await until(() => work.tries.length === 1);
        assert.deepEqual([work.tries[0]?.message.previousTries, work.tries[0]?.message.redeliveries], [3, 1]);
      });

      it(`${library}: passes each body on as it came, and what is no copy of ours to the error queue`, async () => {
        const work = await setUp(broker(), [library, open], ways["interval queues"] as Way, {
          policy: RetryPolicy.none(),
        });
        const failed = await Receiver.on(work.channel, ["work_error"]);
        const bodies: [string, string][] = [
          ["application/json", '{"total":5,"of":"größer"}'],
          ["application/json", '"a text"'],
          ["application/json", "no json"],
          ["text/plain", "größer"],
          ["application/octet-stream", "bytes"],
          ["application/json", ""],
        ];
        for (const [contentType, body] of bodies)
          work.channel.publish("orders", "paid.now", Buffer.from(body), { contentType });
        const odd = { "rabbitmq-delay.redeliveries": "often" };
        work.channel.publish("orders", "paid.now", Buffer.from("odd"), { headers: odd });
        const arrivals = await failed.until(bodies.length + 1);
        assert.deepEqual(
          arrivals.map(({ message }) => message.content.toString()),
          [...bodies.map(([, body]) => body), "odd"],
        );
        const types = arrivals.map(({ message }) => message.properties.headers?.[errorHeaders.type] as string);
        assert.deepEqual(types, [...bodies.map(() => "TypeError"), "MalformedCopyError"]);
      });

      it(`${library}: says when there is no copy, and loses no message that is given back then`, async () => {
        const way = ways["interval queues"] as Way;
        const work = await setUp(broker(), [library, open], way, { policy: RetryPolicy.intervals(DELAYS) });
        for (const { name } of planRetryIntervals(intervals).queues) await work.channel.deleteQueue(name);
        await work.publish();
        await until(() => work.errors.length > 1);
        assert.ok(work.errors.every((error) => error instanceof MessageReturnedError));
        await way.declare(work.channel, "work");
        await (await Receiver.on(work.channel, ["work_error"])).until(1);
        await until(() => work.recoveries.length === 3);
        assert.deepEqual(
          work.recoveries.map(({ kind }) => kind),
          ["redelivered", "redelivered", "failed"],
        );
      });

      it(`${library}: refuses bad arguments by name before anything is published`, async () => {
        const { vhost } = await setUpWork(broker(), ways["interval queues"] as Way);
        const client = await open(broker(), `${broker().node.amqpUrl}/${vhost}`);
        afterThisTest(() => client.close());
        const make = (options: RecoveryOptions, queue = "work"): Promise<unknown> =>
          createMessageRecoverer(client.channel, queue, options);
        const { mechanism } = ways["interval queues"] as Way;
        const policy = RetryPolicy.intervals(DELAYS);
        await assert.rejects(
          make({ policy: RetryPolicy.immediate(2) }),
          /policy\.immediateTries: 2 is not allowed; it must be 0/,
        );
        await assert.rejects(make({ policy }), /mechanism/);
        await assert.rejects(make({ policy: RetryPolicy.intervals([41]), mechanism }), /41/);
        await assert.rejects(
          make({ policy, mechanism, errorQueue: "gone" }),
          /errorQueue: "gone" .*a queue that must exist/,
        );
        await assert.rejects(make({ policy, mechanism }, ""), /queue: ""/);
        const recoverer = await createMessageRecoverer(client.channel, "work", { policy, mechanism });
        assert.throws(() => recoverer.restore({} as ClientMessage), MessageRefusedError);
        await assert.rejects(
          recoverer.recover(undefined as unknown as ClientMessage, new Error("x")),
          MessageRefusedError,
        );
        const fields = { exchange: "", routingKey: "work", redelivered: false };
        const message = { content: Buffer.from("x"), fields, properties: {} };
        await assert.rejects(recoverer.recover(message, new Error("x"), 0), /tries: 0 is not allowed/);
      });
    }
  });

  /**
   * Sets up the queue `work` with a consumer of a library whose handler always fails.
   * @param triesEach how often the handler is called for each delivery
   */
  async function setUp(
    broker: TestBroker,
    [library, open]: (typeof clients)[number],
    way: Way,
    options: RecoveryOptions,
    triesEach = 1,
  ): Promise<FailingWork> {
    const work = await setUpWork(broker, way);
    const client = await open(broker, `${broker.node.amqpUrl}/${work.vhost}`);
    const recoverer = await createMessageRecoverer(client.channel, "work", { mechanism: way.mechanism, ...options });
    let stopped: Promise<void> | undefined;
    const stop = (): Promise<void> => (stopped ??= client.close());
    const failing: FailingWork = { ...work, seen: [], recoveries: [], errors: [], stop };
    afterThisTest(stop);
    await consumers[library]?.(client.channel, async (message) => {
      try {
        failing.seen.push({ atMs: Date.now(), message: recoverer.restore(message) });
        throw new TypeError("still broken");
      } catch (error) {
        try {
          const recovery = await recoverer.recover(message, error, triesEach);
          failing.recoveries.push(recovery);
          return recovery.settle;
        } catch (refusal) {
          failing.errors.push(refusal);
          await new Promise((resolve) => setTimeout(resolve, 50));
          return "reject";
        }
      }
    });
    return failing;
  }
});
