import type { ConfirmChannel } from "amqplib";
import {
  ReceivedMessage,
  RetryConsumer,
  RetryConsumerOptions,
  RetryHandler,
  RetryMechanism,
  consumeWithRetries,
  throughDeclared,
  throughHoldsOnDemand,
} from "@rabbitmq-delay/publish";
import {
  Endpoint,
  RetryDescriptor,
  delayNetwork,
  delayedRetry,
  holdQueues,
  planBinding,
  planEntities,
  planRetry,
  planRetryIntervals,
  planReturnBinding,
  retryIntervals,
  workRetry,
} from "@rabbitmq-delay/topology";
import { TestBroker } from "./brokers";
import { afterThisTest } from "./cleanup";
import { openPublishChannel } from "./connect";
import { declareOverAmqp } from "./declare";

export const DELAYS = [40, 150];
export const intervals = retryIntervals({ intervals: DELAYS });
export const safeIntervals = retryIntervals({ intervals: DELAYS, prefix: "own-retry", queueType: "quorum" });
export const network = delayNetwork({ preset: "custom", prefix: "retry", radix: 4, levels: 3, unitMs: 10 });

export const work = workRetry({ queue: "work", delays: DELAYS });
export const holds = holdQueues({ delays: DELAYS, destinations: [{ exchange: "", routingKey: "work" }] });
export const native = delayedRetry({ queue: "work", minMs: 60, maxMs: 100, deliveryLimit: 5 });

export interface Way {
  mechanism: RetryMechanism;
  /** Declares what the mechanism needs, including the queue `work` if it must differ from a plain quorum queue. */
  declare: (channel: ConfirmChannel, queue: string) => Promise<void>;
  /** Default {@link DELAYS}. */
  delaysMs?: number[];
  /** Whether only RabbitMQ 4.3 has it. */
  isNew?: boolean;
  /** Default `work_error`. */
  errorQueue?: string;
}

export const declareRetries = (descriptor: RetryDescriptor) => (channel: ConfirmChannel) =>
  declareOverAmqp(channel, planRetry(descriptor));

export const bindIntervals = (plan: typeof intervals) => async (channel: ConfirmChannel, queue: string) => {
  const { exchanges, queues, bindings } = planRetryIntervals(plan);
  await declareOverAmqp(channel, { exchanges, queues, bindings: [...bindings, planReturnBinding(plan, queue)] });
};
/** Declares a network with one endpoint. */
export async function declareNetwork(channel: ConfirmChannel, endpoint: Endpoint, of = network): Promise<void> {
  const { exchanges, queues, bindings } = planEntities(of);
  await declareOverAmqp(channel, {
    exchanges,
    queues,
    bindings: [...bindings, ...planBinding(of, endpoint).bindings],
  });
}

export const ways: Record<string, Way> = {
  "interval queues": { mechanism: throughDeclared(intervals), declare: bindIntervals(intervals) },
  "interval queues, quorum": { mechanism: throughDeclared(safeIntervals), declare: bindIntervals(safeIntervals) },
  "a delay network": {
    mechanism: throughDeclared(network),
    declare: (channel, queue) => declareNetwork(channel, { name: queue }),
  },
  "a work queue's retry queues": {
    mechanism: throughDeclared(work),
    declare: declareRetries(work),
    errorQueue: work.deadQueue,
  },
  "hold queues": { mechanism: throughDeclared(holds), declare: declareRetries(holds) },
  "hold queues on demand": { mechanism: throughHoldsOnDemand(), declare: () => Promise.resolve() },
  "the broker's delayed retry": {
    mechanism: throughDeclared(native),
    declare: declareRetries(native),
    delaysMs: [60, 100],
    isNew: true,
    errorQueue: native.deadQueue,
  },
};

/** One try, as a handler saw it. */
export interface Try {
  atMs: number;
  message: ReceivedMessage;
}

/** A queue `work` with its retries, and the operations of tests on it. */
export interface RetryWork {
  vhost: string;
  channel: ConfirmChannel;
  tries: Try[];
  publish: (body?: string, headers?: Record<string, unknown>) => Promise<void>;
  consume: (options: RetryConsumerOptions, handler: RetryHandler) => Promise<RetryConsumer>;
}

/** Sets up a queue `work` behind an exchange, its error queue, and a mechanism, in a vhost of its own. */
export async function setUpWork(broker: TestBroker, { mechanism, declare }: Way): Promise<RetryWork> {
  const vhost = await broker.management.createVhost();
  const channel = await openPublishChannel(broker, vhost);
  await channel.assertExchange("orders", "topic");
  // A mechanism with its own error queue declares the work queue.
  const isOwn = mechanism.errorQueue !== undefined;
  for (const queue of isOwn ? ["work_error"] : ["work", "work_error"])
    await channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } });
  await declare(channel, "work");
  await channel.bindQueue("work", "orders", "paid.*");
  const tries: Try[] = [];
  return {
    vhost,
    channel,
    tries,
    async publish(body = "invoice", headers = { tenant: "a" }) {
      const properties = { contentType: "text/plain", messageId: "m-1", type: "invoice", priority: 0, headers };
      channel.publish("orders", "paid.now", Buffer.from(body), { ...properties, persistent: true });
      await channel.waitForConfirms();
    },
    async consume(options, handler) {
      const consumer = await consumeWithRetries(
        await openPublishChannel(broker, vhost),
        "work",
        (message) => {
          tries.push({ atMs: Date.now(), message });
          return handler(message);
        },
        { mechanism, ...options },
      );
      afterThisTest(() => consumer.stop());
      return consumer;
    },
  };
}

/** Waits until messages that were given back are in the queue again, which takes the broker a moment. */
export async function untilReady(channel: ConfirmChannel, messages: number): Promise<void> {
  while ((await channel.checkQueue("work")).messageCount !== messages)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
