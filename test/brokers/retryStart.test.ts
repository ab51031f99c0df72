import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { getEventListeners } from "node:events";
import type { ConfirmChannel } from "amqplib";
import {
  RetryConsumerOptions,
  RetryMechanism,
  RetryPolicy,
  consumeWithRetries,
  throughDeclared,
  throughDelayedExchange,
  throughHoldsOnDemand,
  AmqplibConsumerChannel,
} from "@rabbitmq-delay/publish";
import { errorHeaders } from "@rabbitmq-delay/publish/parts";
import { planRetryIntervals } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { clients } from "../support/clients";
import { openPublishChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { Receiver } from "../support/receive";
import {
  RetryWork,
  Way,
  holds,
  intervals,
  network,
  safeIntervals,
  setUpWork,
  untilReady,
  ways,
  work,
} from "../support/retryWork";

describe("a consumer with retries starts", () => {
  onEachBroker((broker) => {
    it("refuses at start what would fail later", async () => {
      const { channel } = await setUp(broker(), ways["interval queues"] as Way);
      const start = async (options: RetryConsumerOptions, on: AmqplibConsumerChannel = channel): Promise<unknown> =>
        consumeWithRetries(on, "work", () => undefined, options);
      const mechanism = throughDeclared(intervals);
      const policy = RetryPolicy.interval(1, 40);
      await assert.rejects(start({ policy }), /mechanism: undefined is not allowed/);
      await assert.rejects(start({ policy: RetryPolicy.interval(1, 70), mechanism }), /delayMs: 70 .*40, 150 ms/);
      const tooMany = {
        policy: RetryPolicy.interval(3, 40),
        mechanism: throughDeclared(work),
        errorQueue: "work_error",
      };
      await assert.rejects(start(tooMany), /policy: "3 redeliveries" is not allowed; .*at most 2 redeliveries/);
      const short = throughHoldsOnDemand({ leaseMs: 29_000 });
      await assert.rejects(start({ policy, mechanism: short }), /leaseMs: 29000 .*confirmTimeoutMs, 30000/);
      await assert.rejects(start({ policy, mechanism, prefetch: 0 }), /prefetch: 0 /);
      await assert.rejects(start({ policy, mechanism, concurrency: 11 }), /concurrency: 11 .*from 1 to 10/);
      await assert.rejects(start({ policy, mechanism, handlerTimeoutMs: -1 }), /handlerTimeoutMs: -1 /);
      await assert.rejects(
        start({ policy, mechanism }, { publish: () => true } as never),
        /channel: it must be amqplib/,
      );
      const [, openOther] = clients.find(([name]) => name === "rabbitmq-client") as (typeof clients)[number];
      const other = await openOther(broker(), `${broker().node.amqpUrl}/${vhost}`);
      afterThisTest(() => other.close());
      await assert.rejects(
        start({ policy, mechanism }, other.channel as never),
        /^MessageRefusedError: channel: it must be amqplib's confirm channel .*rabbitmq-client hands on parsed bodies/,
      );
      const late = { policy, mechanism, handlerTimeoutMs: 2 ** 31 };
      await assert.rejects(start(late), /handlerTimeoutMs: 2147483648 .*to 2147483647/);
      await assert.rejects(
        start({ policy, mechanism, confirmTimeoutMs: 2 ** 31 }),
        /confirmTimeoutMs: 2147483648 .*to 2147483647/,
      );
      await assert.rejects(start({ policy, mechanism, errorQueue: "nowhere" }), /errorQueue: "nowhere" .*must exist/);
    });

    it("names the limit at start if a connection may have one channel alone", async () => {
      await setUp(broker(), ways["interval queues"] as Way);
      const [, open] = clients.find(([name]) => name === "amqplib") as (typeof clients)[number];
      const options = { policy: RetryPolicy.interval(1, 40), mechanism: throughHoldsOnDemand() };
      const { user, amqpUrl } = await userWith({ write: ["work"], read: ["work"] });
      await broker().management.call("PUT", `user-limits/${user}/max-channels`, { value: 1 });
      for (const [url, limit] of [
        [`${amqpUrl}/${vhost}`, "limit of .?1\\b"],
        [`${broker().node.amqpUrl}/${vhost}?channelMax=1`, "No channels left"],
      ] as const) {
        const { channel, close } = await open(broker(), url);
        afterThisTest(() => close().catch(() => undefined));
        await assert.rejects(
          consumeWithRetries(channel as AmqplibConsumerChannel, "work", () => undefined, options),
          new RegExp(
            `^MessageRefusedError: channel: .*second channel.*${limit}.*; allow at least 2 channels: max-channels`,
          ),
        );
      }
    });

    it("refuses at start a mechanism whose way back is not there: each retried message would be lost, or go round for ever", async () => {
      const { channel } = await setUp(broker(), ways["interval queues"] as Way);
      const start = async (mechanism: RetryMechanism, more: Partial<RetryConsumerOptions> = {}): Promise<unknown> =>
        // The broker closes a channel that asks for what is not there.
        consumeWithRetries(await openPublishChannel(broker(), vhost), "work", () => undefined, {
          policy: RetryPolicy.interval(1, 40),
          mechanism,
          errorQueue: "work_error",
          ...more,
        });
      const of = (exchange: string): RegExp => new RegExp(`mechanism: "${exchange}" is not allowed; .*must exist`);
      await channel.deleteExchange("mt-delay-return");
      await assert.rejects(start(throughDeclared(intervals)), of("mt-delay-return"));
      await assert.rejects(start(throughDeclared(safeIntervals)), of("own-retry-40"));
      await declareOverAmqp(channel, { ...planRetryIntervals(safeIntervals), bindings: [] });
      await channel.deleteQueue("own-retry-parking");
      await assert.rejects(start(throughDeclared(safeIntervals)), of("own-retry-parking"));
      await assert.rejects(start(throughDeclared(network)), of("retry.r4x3u10.level-01"));
      await assert.rejects(start(throughDeclared(holds)), of("hold.40.0::work"));
      await assert.rejects(start(throughDeclared(work)), of("work.retry-40"));
      await assert.rejects(start(throughDelayedExchange("delayed")), of("delayed"));
      const exchange = { errorExchange: "errors" };
      await assert.rejects(start(throughHoldsOnDemand(), exchange), /errorExchange: "errors" .*must exist/);
    });

    interface Rights {
      write: string[];
      read: string[];
    }

    /** A new user who may configure nothing. */
    async function userWith(rights: Rights): Promise<{
      user: string;
      amqpUrl: string;
      open: () => Promise<ConfirmChannel>;
      permit: (rights: Rights) => Promise<void>;
    }> {
      const { management, node } = broker();
      const user = `service-${randomUUID()}`;
      await management.call("PUT", `users/${user}`, { password: "secret", tags: "" });
      afterThisTest(() => management.call("DELETE", `users/${user}`));
      const permit = ({ write, read }: Rights): Promise<void> =>
        management.call("PUT", `permissions/${vhost}/${user}`, {
          configure: "^$",
          write: `^(${write.join("|")})$`,
          read: `^(${read.join("|")})$`,
        });
      await permit(rights);
      const amqpUrl = `amqp://${user}:secret@${new URL(node.amqpUrl).host}`;
      const open = (): Promise<ConfirmChannel> => openPublishChannel({ management, node: { ...node, amqpUrl } }, vhost);
      return { user, amqpUrl, open, permit };
    }

    it("a user without the default exchange is refused at start, with the reason; an error exchange needs no such right", async () => {
      const mechanism = throughDeclared(network);
      const { channel } = await setUp(broker(), { ...(ways["a delay network"] as Way), mechanism });
      const { open } = await userWith({ write: [...network.entryExchanges, "work_error"], read: ["work"] });
      const policy = RetryPolicy.interval(1, 20);
      await assert.rejects(
        consumeWithRetries(await open(), "work", () => undefined, { policy, mechanism }),
        /errorExchange: "" is not allowed; .*may not write to; give errorExchange.*amq\.default/,
      );
      await channel.assertExchange("work_error", "fanout");
      await channel.bindQueue("work_error", "work_error", "");
      const fail = (): void => {
        throw new Error("broken");
      };
      const options = { policy, mechanism, errorExchange: "work_error" };
      const consumer = await consumeWithRetries(await open(), "work", fail, options);
      afterThisTest(() => consumer.stop());
      channel.sendToQueue("work", Buffer.from("x"), { persistent: true });
      const [arrival] = await (await Receiver.on(channel, ["work_error"])).until(1);
      assert.equal(arrival?.message.properties.headers?.[errorHeaders.tries], 2);
    });

    it("a consumer that a refused copy ends says which right its user lacks", async () => {
      const { channel } = await setUp(broker(), ways["interval queues"] as Way);
      const rights = { write: ["amq.default", "work_error", "mt-delay-40"], read: ["work"] };
      const { open, permit } = await userWith(rights);
      const fail = (): void => {
        throw new Error("broken");
      };
      const mechanism = throughDeclared(intervals);
      const own = await open();
      const consumer = await consumeWithRetries(own, "work", fail, { policy: RetryPolicy.interval(1, 40), mechanism });
      await permit({ ...rights, write: ["amq.default", "work_error"] });
      channel.sendToQueue("work", Buffer.from("x"), { persistent: true });
      await assert.rejects(
        consumer.ended,
        /consumes work closed: .*403.* to exchange 'mt-delay-40'.*without this right no failed message can be passed on/,
      );
      await untilReady(channel, 1);
    });

    it("consumers that come and go leave nothing on their channel, or on a signal that outlives them", async () => {
      await setUp(broker(), ways["interval queues"] as Way);
      const channel = await openPublishChannel(broker(), vhost);
      const { signal } = new AbortController();
      const options = { policy: RetryPolicy.interval(1, 40), mechanism: throughDeclared(intervals), signal };
      const count = (): number[] => [
        ...[...channel.eventNames()].map((event) => channel.listenerCount(event)),
        getEventListeners(signal, "abort").length,
      ];
      const run = async (): Promise<void> =>
        (await consumeWithRetries(channel, "work", () => undefined, options)).stop();
      await run();
      const before = count();
      for (let more = 0; more < 12; more++) await run();
      assert.deepEqual(count(), before);
      assert.equal(getEventListeners(signal, "abort").length, 0);
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
