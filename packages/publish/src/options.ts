/** How a publisher behaves. */
export interface DelayPublisherOptions {
  /** How many messages may wait for the broker's confirm at once; further ones wait for their turn. Default 1000. */
  maxUnconfirmed?: number;
  /**
   * How many bytes their bodies may have together; a larger message is sent when no other is on its way. A message that waits for its turn is
   * in memory, too: await `publish`, instead of calling it for thousands of large messages at once. Default 67108864 (64 MiB).
   */
  maxUnconfirmedBytes?: number;
  /**
   * How long a message may wait until it can be sent, and then how long for the broker's confirm; in milliseconds, from 1 to 2147483647
   * (almost 25 days). During an alarm the broker accepts nothing on a connection that publishes. Default 30000.
   */
  confirmTimeoutMs?: number;
  /**
   * The default tolerance of each message, whether it has a delay or a due time: how much later it may be, as a fraction of its delay, for
   * fewer hops. Default 0.
   */
  tolerance?: number;
}

/**
 * AMQP properties that pass through unchanged. Texts have at most 255 bytes. A property that the client library can't encode causes a
 * MessageRefusedError, because it would close the channel under all other messages.
 */
export interface MessageProperties {
  contentType?: string;
  contentEncoding?: string;
  /**
   * Texts, finite numbers, booleans, null, lists and plain objects of them; `undefined` in an object is left out. They are read during the
   * call. The broker's own record of where a message has been (`x-death`, `x-first-death-*`, `x-last-death-*`, `x-delivery-count`,
   * `x-acquired-count`) is left out, so you can pass the headers of a received message as they are. `rabbitmq-delay.copy` is left out, too.
   * In a network of NServiceBus, `NServiceBus.TimeSent` is always the present time, because the delay is counted from it.
   *
   * A number is sent as the smallest type that holds it. So a double 5.0 from a received message goes out as an integer, and a 64-bit
   * integer beyond 2^53 as the number that the client library has made of it. Over amqplib you can name a type, e.g. `{ "!": "double",
   * value: 5 }`, and bytes are a Buffer. Over rabbitmq-client a bigint is a 64-bit integer of any size. All properties together have about
   * 64 KiB over amqplib (4 KiB before 0.10.6), and about 7 KiB over rabbitmq-client, unless the connection's `frameMax` is another one.
   */
  headers?: Record<string, unknown>;
  /** A whole number from 0 to 255. */
  priority?: number;
  correlationId?: string;
  replyTo?: string;
  /** Generated when left out, because unconfirmed messages are recognized by it. */
  messageId?: string;
  /** Whole seconds since 1970. */
  timestamp?: number;
  type?: string;
  userId?: string;
  appId?: string;
}

/** One message's delay and properties; exactly one of `delayMs` and `at`. */
export type DelayedMessageOptions = MessageProperties &
  (DelayMs | DueAt) & {
    /** See {@link DelayPublisherOptions.tolerance}. */
    tolerance?: number;
  };

interface DelayMs {
  /** Delay in milliseconds, rounded up to the network's unit. */
  delayMs: number;
  at?: undefined;
}

interface DueAt {
  /** When the message is due; a time in the past means now. */
  at: Date;
  delayMs?: undefined;
}

/** What the broker has accepted. */
export interface PublishReceipt {
  exchange: string;
  routingKey: string;
  /** The delay that the network keeps, in milliseconds. */
  delayMs: number;
  /** The earliest time at which the message arrives. */
  dueAt: Date;
  messageId: string;
}
