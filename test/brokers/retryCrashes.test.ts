import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import { join } from "node:path";
import * as amqp from "amqplib";
import type { ConfirmChannel } from "amqplib";
import {
  ReceivedMessage,
  RetryConsumer,
  RetryMechanism,
  RetryPolicy,
  consumeWithRetries,
  throughDeclared,
  throughHoldsOnDemand,
} from "@rabbitmq-delay/publish";
import { errorHeaders } from "@rabbitmq-delay/publish/parts";
import {
  DelayNetwork,
  RetryDescriptor,
  delayNetwork,
  delayedRetry,
  holdQueues,
  planBinding,
  planEntities,
  planRetry,
  planReturnBinding,
  retryIntervals,
  workRetry,
} from "@rabbitmq-delay/topology";
import { TestBroker, onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { amqplibFor, openPublishChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { rounds } from "../support/length";
import { Receiver } from "../support/receive";

/** More than the 20 deliveries after which RabbitMQ 4 drops a message unless told otherwise. */
const CRASHES = 25;
const MESSAGES = 3;
const delays = [40];

/** A queue for each way to retry; its messages come back by a descriptor, or on demand. */
interface Consumed {
  queue: string;
  descriptor?: RetryDescriptor | DelayNetwork;
  errorQueue: string;
  delayMs: number;
}

const consumed: Consumed[] = [
  { queue: "by-interval", descriptor: retryIntervals({ intervals: delays }) },
  { queue: "by-network", descriptor: delayNetwork({ preset: "custom", prefix: "n", radix: 4, levels: 3, unitMs: 10 }) },
  { queue: "by-work", descriptor: workRetry({ queue: "by-work", delays }) },
  {
    queue: "by-hold",
    descriptor: holdQueues({ delays, destinations: [{ exchange: "", routingKey: "by-hold" }], queueType: "quorum" }),
  },
  { queue: "by-demand" },
].map((one) => ({ ...one, errorQueue: "errors", delayMs: 40 }));

/** A broken consumer has its queue's messages in hand again and again; none of them has failed. */
describe("consumers that crash more often than RabbitMQ 4 delivers by itself", () => {
  onEachBroker((broker, { isNewest }) => {
    // RabbitMQ 3.10 has no limit that more crashes could reach.
    const killed = isNewest ? CRASHES : rounds(3, CRASHES);

    it(`lose no message, whatever way it comes back: ${killed} processes killed`, async () => {
      const { vhost, channel } = await setUp(broker());
      const script = join(__dirname, "programs", "crashingConsumer.js");
      for (let crash = 1; crash <= killed; crash++) {
        const url = `${broker().node.amqpUrl}/${vhost}`;
        const child = spawn(process.execPath, [script, url, JSON.stringify(consumed)], { stdio: "inherit" });
        const [, signal] = (await once(child, "close")) as [number | null, string | null];
        assert.equal(signal, "SIGKILL", `crash ${crash}`);
      }
      await allArrive(broker(), vhost, channel);
    });

    it(`lose no message, whatever way it comes back: ${CRASHES} connections cut and ${CRASHES} channels closed`, async () => {
      const { vhost, channel } = await setUp(broker());
      await Promise.all(
        consumed.map(async (one) => {
          for (let crash = 1; crash <= 2 * CRASHES; crash++) {
            const connection = await amqplibFor(broker()).connect(`${broker().node.amqpUrl}/${vhost}`);
            connection.on("error", () => undefined);
            const own = await connection.createConfirmChannel();
            await new Promise<void>((resolve, reject) => {
              const handler = (): Promise<void> => new Promise(() => resolve());
              consumeWithRetries(own, one.queue, handler, optionsOf(one)).catch(reject);
            });
            if (crash % 2 === 0) (connection.connection as unknown as { stream: Socket }).stream.destroy();
            else await own.close().then(() => connection.close());
          }
        }),
      );
      await allArrive(broker(), vhost, channel);
    });
  });

  function optionsOf({ descriptor, errorQueue, delayMs }: Consumed): {
    policy: RetryPolicy;
    mechanism: RetryMechanism;
    errorQueue: string;
  } {
    const mechanism = descriptor === undefined ? throughHoldsOnDemand() : throughDeclared(descriptor);
    return { policy: RetryPolicy.interval(1, delayMs), mechanism, errorQueue };
  }

  async function setUp(broker: TestBroker): Promise<{ vhost: string; channel: ConfirmChannel }> {
    const vhost = await broker.management.createVhost();
    const channel = await openPublishChannel(broker, vhost);
    const quorum = { durable: true, arguments: { "x-queue-type": "quorum" } };
    await channel.assertQueue("errors", quorum);
    for (const { queue, descriptor } of consumed) {
      if (descriptor?.kind !== "work-retry") await channel.assertQueue(queue, quorum);
      if (descriptor !== undefined) await declare(channel, queue, descriptor);
      await liftDeliveryLimit(broker, vhost, queue);
      for (let index = 0; index < MESSAGES; index++)
        channel.sendToQueue(queue, Buffer.from(`${queue} ${index}`), { persistent: true });
    }
    await channel.waitForConfirms();
    return { vhost, channel };
  }

  async function declare(
    channel: ConfirmChannel,
    queue: string,
    descriptor: RetryDescriptor | DelayNetwork,
  ): Promise<void> {
    const { exchanges, queues, bindings } =
      descriptor.kind === "delay-network" ? planEntities(descriptor) : planRetry(descriptor);
    const own =
      descriptor.kind === "delay-network"
        ? planBinding(descriptor, { name: queue }).bindings
        : descriptor.kind === "retry-intervals"
          ? [planReturnBinding(descriptor, queue)]
          : [];
    await declareOverAmqp(channel, { exchanges, queues, bindings: [...bindings, ...own] });
  }

  /** As the components do: by a policy, because an argument would replace the queue; brokers before 4.0 have no limit by themselves. */
  async function liftDeliveryLimit({ management }: TestBroker, vhost: string, queue: string): Promise<void> {
    if (Number.parseInt(await management.version(), 10) < 4) return;
    await management.call("PUT", `policies/${vhost}/${queue}.delivery-limit`, {
      pattern: `^${queue}$`,
      "apply-to": "quorum_queues",
      priority: 0,
      definition: { "delivery-limit": -1 },
    });
  }

  /** Each message fails once more, comes back by its queue's way, and is handled; none is in an error queue. */
  async function allArrive(broker: TestBroker, vhost: string, channel: ConfirmChannel): Promise<void> {
    for (const one of consumed) {
      const handled = new Set<string>();
      const own = await openPublishChannel(broker, vhost);
      await new Promise<void>((resolve, reject) => {
        const handler = ({ body, redeliveries, previousTries }: ReceivedMessage): void => {
          assert.equal(previousTries, redeliveries, "a crash is no try");
          if (redeliveries === 0) throw new Error("not yet");
          if (handled.add(body.toString()).size === MESSAGES) resolve();
        };
        consumeWithRetries(own, one.queue, handler, optionsOf(one)).then(
          (consumer) => afterThisTest(() => consumer.stop()),
          reject,
        );
      });
      const expected = Array.from({ length: MESSAGES }, (_, index) => `${one.queue} ${index}`);
      assert.deepEqual([...handled].sort(), expected);
    }
    for (const queue of ["errors", "by-work.dead", "mt-delay-parking", "n.r4x3u10.parking"])
      assert.equal((await channel.checkQueue(queue)).messageCount, 0, queue);
  }
});

/** With the broker's own delayed retry a crash is a failure: the only one of the ways where that is so. */
describe("the broker's delayed retry", () => {
  onEachBroker((broker, { isNewest }) => {
    // Older brokers take the arguments without a word and don't delay.
    if (!isNewest) return;
    it("counts a crash as a failure, and keeps what crashes its consumer too often in the error queue", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openPublishChannel(broker(), vhost);
      const native = delayedRetry({ queue: "native", minMs: 20, maxMs: 40, deliveryLimit: 4 });
      await declareOverAmqp(channel, planRetry(native));
      const dead = await Receiver.on(channel, ["native.dead"]);
      channel.sendToQueue("native", Buffer.from("x"), { persistent: true });
      const mechanism = throughDeclared(native);
      const policy = RetryPolicy.declared(native);
      const counts: number[] = [];
      while (dead.arrivals.length === 0) {
        const connection = await amqplibFor(broker()).connect(`${broker().node.amqpUrl}/${vhost}`);
        connection.on("error", () => undefined);
        const own = await connection.createConfirmChannel();
        const delivered = new Promise<void>((resolve) => {
          const handler = ({ redeliveries }: ReceivedMessage): Promise<void> => {
            counts.push(redeliveries);
            return new Promise(() => resolve());
          };
          consumeWithRetries(own, "native", handler, { policy, mechanism }).catch(() => undefined);
        });
        await Promise.race([delivered, dead.until(1)]);
        (connection.connection as unknown as { stream: Socket }).stream.destroy();
      }
      assert.deepEqual(counts, [0, 1, 2, 3, 4]);
      assert.equal(dead.arrivals[0]?.message.content.toString(), "x");

      // Moved back as a shovel moves it, it is a message like any other: its count starts anew.
      const { content, properties } = dead.arrivals[0]?.message as amqp.ConsumeMessage;
      channel.sendToQueue("native", content, properties as amqp.Options.Publish);
      const tries: number[][] = [];
      const own = await openPublishChannel(broker(), vhost);
      const consume = (end?: AbortController): Promise<RetryConsumer> => {
        const handler = ({ redeliveries, previousTries }: ReceivedMessage): void => {
          tries.push([redeliveries, previousTries]);
          end?.abort();
          throw new Error("not yet");
        };
        return consumeWithRetries(own, "native", handler, { policy, mechanism, signal: end?.signal });
      };
      // Given back uncounted by a consumer that stops, it still has the count that brought it to the dead queue.
      for (let stops = 0; stops < 2; stops++) await (await consume(new AbortController())).ended;
      await consume();
      await dead.until(2);
      assert.deepEqual(tries, [[0, 0], [0, 0], ...[0, 1, 2, 3, 4].map((count) => [count, count])]);
      assert.equal(dead.arrivals[1]?.message.properties.headers?.[errorHeaders.tries], 5);
    });

    // Else messages that no handler has ever seen would be in the dead queue, for the crashes of another one.
    it("a consumer that crashes fails only the messages that it handled", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openPublishChannel(broker(), vhost);
      const native = delayedRetry({ queue: "native", minMs: 20, maxMs: 20, deliveryLimit: 2 });
      await declareOverAmqp(channel, planRetry(native));
      const dead = await Receiver.on(channel, ["native.dead"]);
      for (const body of ["bad", "b", "c", "d"]) channel.sendToQueue("native", Buffer.from(body));
      await channel.waitForConfirms();
      const options = { policy: RetryPolicy.declared(native), mechanism: throughDeclared(native) };
      const handled = new Set<string>();
      while (handled.size < 3 || dead.arrivals.length === 0) {
        const connection = await amqplibFor(broker()).connect(`${broker().node.amqpUrl}/${vhost}`);
        connection.on("error", () => undefined);
        const own = await connection.createConfirmChannel();
        const crashed = new Promise<void>((resolve) => {
          const handler = async ({ body }: ReceivedMessage): Promise<void> => {
            if (body.toString() === "bad") return new Promise(() => resolve());
            handled.add(body.toString());
            if (handled.size === 3) resolve();
          };
          void consumeWithRetries(own, "native", handler, options);
        });
        await (handled.size < 3 ? crashed : Promise.race([crashed, dead.until(1)]));
        (connection.connection as unknown as { stream: Socket }).stream.destroy();
      }
      assert.deepEqual([...handled].sort(), ["b", "c", "d"]);
      assert.deepEqual(
        dead.arrivals.map(({ message }) => message.content.toString()),
        ["bad"],
      );
    });
  });
});
