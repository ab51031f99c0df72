import { errorMonitor } from "node:events";
import { audiences } from "../audience";
import { MessageRefusedError } from "../errors";
import { AmqplibMessage, ClientDelivery, deliveryOf } from "./clientMessage";

/** A delivery that has to be acknowledged or returned, once. */
export interface OpenDelivery extends ClientDelivery {
  /** @param isForEarlier whether also for all that came before it and are not settled, which the broker then has at once; default: no */
  acknowledge(isForEarlier?: boolean): void;
  /** Gives it back to the queue, to its former place. */
  giveBack(): void;
  /** Gives it back to the queue as a failure, which a quorum queue counts. */
  reject(): void;
  /** Rejects it for good: the broker moves it to the dead-letter target of its queue, and drops it if there is none. */
  deadLetter(): void;
  /** Lets the client library keep its body no more. */
  forgetBody(): void;
}

/** The few operations that a consumer needs from a client library. */
export interface ConsumePort {
  prefetch(count: number): Promise<void>;
  /** Checks that a queue of that name exists; the broker closes the channel if it doesn't. */
  checkQueue(queue: string): Promise<void>;
  /** Calls back with each delivery, and with undefined when the broker cancels the consumer. */
  consume(queue: string, onDelivery: (delivery: OpenDelivery | undefined) => void): Promise<() => Promise<void>>;
  /**
   * Calls back when the channel has closed, with the broker's reason if the broker closed this channel.
   * @returns a function that removes the listener
   */
  onClose(listener: (reason?: Error) => void): () => void;
}

/** The part of amqplib's ConfirmChannel that is used. */
interface AmqplibChannel {
  prefetch(count: number): Promise<unknown>;
  checkQueue(queue: string): Promise<unknown>;
  consume(queue: string, callback: (message: AmqplibMessage | null) => void): Promise<{ consumerTag: string }>;
  cancel(consumerTag: string): Promise<unknown>;
  ack(message: AmqplibMessage, allUpTo?: boolean): void;
  nack(message: AmqplibMessage, allUpTo: boolean, requeue: boolean): void;
  reject(message: AmqplibMessage, requeue: boolean): void;
  waitForConfirms: unknown;
  on(event: string | symbol, listener: (error: Error) => void): unknown;
  off(event: string | symbol, listener: (error: Error) => void): unknown;
}

/**
 * Wraps amqplib's confirm channel, which the caller owns.
 * @throws MessageRefusedError for anything else
 */
export function toConsumePort(channel: unknown): ConsumePort {
  const candidate = channel as Partial<AmqplibChannel> | null | undefined;
  if (typeof candidate?.waitForConfirms !== "function" || typeof candidate.consume !== "function") {
    throw new MessageRefusedError(
      "channel",
      "it must be amqplib's confirm channel (connection.createConfirmChannel()); rabbitmq-client hands on parsed bodies, " +
        "of which no exact copy can be made",
    );
  }
  return amqplibPort(channel as AmqplibChannel);
}

function amqplibPort(channel: AmqplibChannel): ConsumePort {
  return {
    async prefetch(count) {
      await channel.prefetch(count);
    },
    async checkQueue(queue) {
      await channel.checkQueue(queue);
    },
    async consume(queue, onDelivery) {
      const { consumerTag } = await channel.consume(queue, (message) =>
        onDelivery(message === null ? undefined : toDelivery(channel, message)),
      );
      return async () => {
        // A channel that closes meanwhile has no consumer any more, which is the aim.
        await Promise.resolve()
          .then(() => channel.cancel(consumerTag))
          .catch(() => undefined);
      };
    },
    onClose: (listener) => closeAudience(channel).add(listener),
  };
}

/** Tells its listeners that a channel has closed, and why. */
const closeAudience = audiences<AmqplibChannel, Error | undefined>((channel, tell) => {
  let reason: Error | undefined;
  // A monitoring listener does not hide the error from the channel's owner.
  const onError = (error: Error): void => void (reason = error);
  const onClose = (): void => tell(reason);
  channel.on(errorMonitor, onError);
  channel.on("close", onClose);
  return () => {
    channel.off(errorMonitor, onError);
    channel.off("close", onClose);
  };
});

const NO_BODY = Buffer.alloc(0);

function toDelivery(channel: AmqplibChannel, message: AmqplibMessage): OpenDelivery {
  return {
    ...deliveryOf(message),
    acknowledge: (isForEarlier = false) => unlessClosing(() => channel.ack(message, isForEarlier)),
    giveBack: () => unlessClosing(() => channel.nack(message, false, true)),
    reject: () => unlessClosing(() => channel.reject(message, true)),
    deadLetter: () => unlessClosing(() => channel.reject(message, false)),
    forgetBody: () => void (message.content = NO_BODY),
  };
}

/** Ignores the error of a channel that is about to close: the broker then delivers unsettled messages again. */
function unlessClosing(settle: () => void): void {
  try {
    settle();
  } catch (error) {
    if ((error as Error).name !== "IllegalOperationError") throw error;
  }
}
