/**
 * The broker did not accept a message, or not for certain. Each subclass is one reason.
 * @example
 * ```ts
 * import { DelayPublishError, DelayPublisher } from "@rabbitmq-delay/publish";
 *
 * export async function remind(publisher: DelayPublisher): Promise<void> {
 *   await publisher.publish("Billing", "a reminder", { delayMs: 60_000 }).catch((error: unknown) => {
 *     if (!(error instanceof DelayPublishError)) throw error;
 *     console.error(`${error.routingKey} at ${error.exchange}: ${error.message}`);
 *   });
 * }
 * ```
 */
export abstract class DelayPublishError extends Error {
  /**
   * @param exchange where the message was published
   * @param routingKey with which key
   */
  constructor(
    readonly exchange: string,
    readonly routingKey: string,
    message: string,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/**
 * The message was not published at all: an option would break its delay, or the delay or the destination is impossible.
 * @example
 * ```ts
 * import { MessageRefusedError } from "@rabbitmq-delay/publish";
 *
 * // The option to correct, because a second attempt would be refused too.
 * export const refusedOption = (error: unknown): string | undefined =>
 *   error instanceof MessageRefusedError ? error.property : undefined;
 * ```
 */
export class MessageRefusedError extends Error {
  override readonly name = "MessageRefusedError";

  /**
   * @param property the refused option
   * @param reason why, and what to do instead
   */
  constructor(
    readonly property: string,
    reason: string,
  ) {
    super(`${property}: ${reason}`);
  }
}

/**
 * No queue took the message when it was published. A delayed message can only be returned if it has no delay, in a network without parking:
 * with a delay, a level's queue takes and confirms it, and only when it is due does it turn out whether anybody is bound for its
 * destination.
 * @example
 * ```ts
 * import { MessageReturnedError } from "@rabbitmq-delay/publish";
 *
 * // Whether the destination needs a queue before a second attempt.
 * export const hasNoQueue = (error: unknown): boolean => error instanceof MessageReturnedError;
 * ```
 */
export class MessageReturnedError extends DelayPublishError {
  constructor(exchange: string, routingKey: string, replyText: string) {
    super(
      exchange,
      routingKey,
      `the broker returned the message for ${routingKey} (${replyText}): no queue is bound for it`,
    );
  }
}

/**
 * The broker refused the message, e.g. because a queue is full; it can be published again.
 * @example
 * ```ts
 * import { MessageNackedError } from "@rabbitmq-delay/publish";
 *
 * // Whether a second attempt, some time later, makes no copy.
 * export const isRefusedByQueue = (error: unknown): boolean => error instanceof MessageNackedError;
 * ```
 */
export class MessageNackedError extends DelayPublishError {
  constructor(exchange: string, routingKey: string) {
    super(
      exchange,
      routingKey,
      `the broker did not take the message for ${routingKey} (nack); it may be published again`,
    );
  }
}

/**
 * The channel closed before the broker answered: the message may have been accepted, so publish it again for at least once.
 * @example
 * ```ts
 * import { ChannelClosedError } from "@rabbitmq-delay/publish";
 *
 * // Whether the next attempt needs a publisher on a new channel.
 * export const needsChannel = (error: unknown): boolean => error instanceof ChannelClosedError;
 * ```
 */
export class ChannelClosedError extends DelayPublishError {
  /** @param reason the channel's own error if it had one, such as the broker's refusal; it becomes the `cause` */
  constructor(exchange: string, routingKey: string, reason?: Error) {
    const why = reason === undefined ? "" : `: ${reason.message}`;
    super(exchange, routingKey, `the channel closed before the broker confirmed the message for ${routingKey}${why}`);
    if (reason !== undefined) this.cause = reason;
  }
}

/**
 * The broker did not answer in time. A message that was sent may have been accepted: publish it again for at least once. If it was not sent
 * (`wasSent` is false), because the broker accepted nothing on this connection or too many others waited, publishing it again makes no
 * copy. If it was, `answer` settles when the broker answers after all, as `publish` would have done, or with a ChannelClosedError when the channel
 * closes: who waits for it, and only then publishes again, makes no copy while the channel lasts.
 * @example
 * ```ts
 * import { PublishTimeoutError } from "@rabbitmq-delay/publish";
 *
 * // Whether a second attempt could make a copy.
 * export const mayBeDelivered = (error: unknown): boolean => error instanceof PublishTimeoutError && error.wasSent;
 * ```
 */
export class PublishTimeoutError extends DelayPublishError {
  constructor(
    exchange: string,
    routingKey: string,
    timeoutMs: number,
    readonly wasSent = true,
    readonly answer?: Promise<void>,
  ) {
    super(
      exchange,
      routingKey,
      wasSent
        ? `the broker did not confirm the message for ${routingKey} within ${timeoutMs} ms`
        : `the message for ${routingKey} was not sent within ${timeoutMs} ms: the broker takes nothing on this connection now, or too ` +
            "many others wait; publishing it again makes no copy",
    );
  }
}

/** The broker does not open a connection, for the reason that it gives. */
export class OpenRefusedError extends Error {
  override readonly name = "OpenRefusedError";
}
