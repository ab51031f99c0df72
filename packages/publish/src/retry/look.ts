import type { QueuePlan } from "@rabbitmq-delay/topology/descriptors";
import { refusalCode } from "../brokerRefusal";
import { EntityPort, toEntityPort } from "../hold/entityPort";
import { secondChannelOf } from "../secondChannel";

/**
 * Looks for queues and exchanges that others declared, over a channel beside the caller's, because the broker closes the channel on which
 * somebody asks for a missing thing. Each question rejects with the broker's error, see {@link refusalCode}: 404, or 403 where the user has no
 * right on the name.
 */
export interface Look {
  queue(name: string): Promise<void>;
  exchange(name: string): Promise<void>;
  /** Declares a queue; rejects if the user lacks a right for it, or another queue has its name. */
  declare(queue: QueuePlan): Promise<void>;
  /** Rejects with the broker's error if the user may not write to the default exchange. Nothing is published and nothing changed. */
  defaultExchange(): Promise<void>;
}

/** Second channels of the connections whose users may write to the default exchange; the broker's answer closes the channel. */
const writers = new WeakSet<object>();

/**
 * Looks over the second channel of a caller's connection. If somebody wrapped the channel so that this can't be done, that channel itself is
 * used, and closed by the first refusal.
 */
export function openLook(channel: object): Look {
  const beside = secondChannelOf(channel);
  const ask = (question: (on: EntityPort) => Promise<void>): Promise<void> =>
    beside.ask((on) => question(toEntityPort(on)));
  return {
    queue: (name) => ask((on) => on.checkQueue(name)),
    exchange: (name) => ask((on) => on.checkExchange(name)),
    declare: (queue) => ask((on) => on.declareQueue(queue)),
    async defaultExchange() {
      // The broker asks for the right to write before it says that nobody may unbind this exchange.
      await ask(async (on) => {
        if (!writers.has(beside)) await on.unbindDefaultExchange();
      }).catch((error: Error) => {
        const code = refusalCode(error);
        if (code === 403 && /write access to exchange|access to exchange 'amq\.default'/.test(error.message))
          throw error;
        if (code !== undefined) writers.add(beside);
      });
    },
  };
}
