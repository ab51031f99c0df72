import type { QueuePlan } from "@rabbitmq-delay/topology/descriptors";
import { toDeclarePort } from "../hold/declarePort";
import { secondChannelOf } from "../secondChannel";

/**
 * Looks for queues and exchanges that others declared, over a channel beside the consumer's, because the broker closes the channel on which
 * somebody asks for a missing thing.
 */
export interface Look {
  /** Rejects with the broker's error, which has a `code`: 404, or 403 where the user has no right on the name. */
  queue(name: string): Promise<void>;
  /** The same for an exchange. */
  exchange(name: string): Promise<void>;
  /** Declares a queue; rejects if the user lacks a right for it, or another queue has its name. */
  declare(queue: QueuePlan): Promise<void>;
  /** Rejects with the broker's error if the user may not write to the default exchange. Nothing is published and nothing changed. */
  defaultExchange(): Promise<void>;
}

/** The part of amqplib's channels that is used. */
interface AmqplibChannel {
  checkQueue(name: string): Promise<unknown>;
  checkExchange(name: string): Promise<unknown>;
  unbindExchange(destination: string, source: string, pattern: string): Promise<unknown>;
}

/** Second channels of the connections whose users may write to the default exchange; the broker's answer closes the channel. */
const writers = new WeakSet<object>();

/**
 * Looks over the second channel of amqplib's connection. If somebody wrapped the channel so that this can't be done, that channel itself is
 * used, and closed by the first refusal.
 */
export function openLook(channel: object): Look {
  const beside = secondChannelOf(channel);
  const ask = (question: (on: AmqplibChannel) => Promise<unknown>): Promise<void> =>
    beside.ask((on) => question(on as AmqplibChannel));
  return {
    queue: (name) => ask((on) => on.checkQueue(name)),
    exchange: (name) => ask((on) => on.checkExchange(name)),
    declare: (queue) => ask((on) => toDeclarePort(on).declareQueue(queue)),
    async defaultExchange() {
      // The broker asks for the right to write before it says that nobody may unbind this exchange.
      await ask(async (on) => {
        if (!writers.has(beside)) await on.unbindExchange("", "rabbitmq-delay.nowhere", "");
      }).catch((error: Error & { code?: number }) => {
        if (error.code === 403 && /write access to exchange|access to exchange 'amq\.default'/.test(error.message))
          throw error;
        if (error.code !== undefined) writers.add(beside);
      });
    },
  };
}
