import type { QueuePlan } from "@rabbitmq-delay/topology";
import { toDeclarePort } from "../hold/declarePort";

/** Looks for what others declared, over a channel beside the consumer's, because the broker closes one that asks for what is not there. */
export interface Look {
  /** Rejects with the broker's error, which has a `code`: 404, or 403 where the user has no right on the name. */
  queue(name: string): Promise<void>;
  /** The same for an exchange. */
  exchange(name: string): Promise<void>;
  /** Declares a queue; rejects where the user lacks a right for it, or another queue has its name. */
  declare(queue: QueuePlan): Promise<void>;
  /** Rejects with the broker's error where the user may not write to the default exchange. Nothing is published, and nothing changed. */
  defaultExchange(): Promise<void>;
  /** Closes the channel beside. */
  close(): Promise<void>;
}

/** What is used of amqplib's channels. */
interface AmqplibChannel {
  connection?: unknown;
  open?: () => Promise<unknown>;
  checkQueue(name: string): Promise<unknown>;
  checkExchange(name: string): Promise<unknown>;
  unbindExchange(destination: string, source: string, pattern: string): Promise<unknown>;
  close(): Promise<void>;
  on(event: string, listener: () => void): unknown;
}

/**
 * Opens channels beside one of amqplib, on its connection. Where somebody wrapped it so that this can't be done, that channel itself is
 * used, and closed by the first refusal.
 */
export function openLook(channel: unknown): Look {
  const own = channel as AmqplibChannel;
  let beside: Promise<AmqplibChannel> | undefined;
  const ask = async (question: (on: AmqplibChannel) => Promise<unknown>): Promise<void> => {
    const on = await (beside ??= openBeside(own));
    try {
      await question(on);
    } catch (error) {
      beside = undefined;
      throw error;
    }
  };
  return {
    queue: (name) => ask((on) => on.checkQueue(name)),
    exchange: (name) => ask((on) => on.checkExchange(name)),
    declare: (queue) => ask((on) => toDeclarePort(on).declareQueue(queue)),
    async defaultExchange() {
      // The broker asks for the right to write before it says that nobody may unbind this exchange.
      await ask((on) => on.unbindExchange("", "rabbitmq-delay.nowhere", "")).catch(
        (error: Error & { code?: number }) => {
          if (error.code !== 403 || !/write access to exchange|access to exchange 'amq\.default'/.test(error.message))
            return;
          throw error;
        },
      );
    },
    async close() {
      const on = await beside;
      if (on !== undefined && on !== own) await on.close();
    },
  };
}

async function openBeside(own: AmqplibChannel): Promise<AmqplibChannel> {
  const Channel = own.constructor as new (connection: unknown) => AmqplibChannel;
  if (typeof own.connection !== "object" || typeof own.open !== "function") return own;
  const beside = new Channel(own.connection);
  // The question that was refused has the error, too.
  beside.on("error", () => undefined);
  await beside.open?.();
  return beside;
}
