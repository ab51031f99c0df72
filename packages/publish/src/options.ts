/** How a publisher behaves. */
export interface DelayPublisherOptions {
  /** Messages that may wait for the broker's confirm at once; further ones wait their turn. Default 1000. */
  maxUnconfirmed?: number;
  /**
   * How long a message may wait until it can be sent, and then how long for the broker's confirm; in milliseconds, from 1 to 2147483647
   * (almost 25 days). During an alarm the broker takes nothing on a connection that publishes. Default 30000.
   */
  confirmTimeoutMs?: number;
  /**
   * Default of each message's tolerance, whether it has a delay or a due time: how much later it may be, as a fraction of its delay, for
   * fewer hops. Default 0.
   */
  tolerance?: number;
}

/**
 * AMQP properties that pass through unchanged. Texts have at most 255 bytes. What the client library can't encode is a
 * MessageRefusedError; it would close the channel under all other messages.
 */
export interface MessageProperties {
  contentType?: string;
  contentEncoding?: string;
  /**
   * Texts, finite numbers, booleans, null, lists and plain objects of them; `undefined` in an object is left out. Read in the call. The
   * broker's own account of where a message has been (`x-death`, `x-first-death-*`, `x-last-death-*`, `x-delivery-count`,
   * `x-acquired-count`) is left out, so that the headers of a received message can be given as they are. So is `rabbitmq-delay.copy`. In a
   * network of NServiceBus, `NServiceBus.TimeSent` is always the present, because the delay is counted from it.
   *
   * A number is sent as the smallest type that holds it, so what came as a double 5.0 goes out as an integer, and what came as a 64-bit
   * integer beyond 2^53 as the number that the client library has made of it. Over amqplib a type can be told, e.g.
   * `{ "!": "double", value: 5 }`, and bytes are a Buffer; over rabbitmq-client a bigint is a 64-bit integer of any size. All properties
   * together have about 64 KiB over amqplib, and about 7 KiB over rabbitmq-client unless its connection's `frameMax` is larger.
   */
  headers?: Record<string, unknown>;
  /** A whole number from 0 to 255. */
  priority?: number;
  correlationId?: string;
  replyTo?: string;
  /** Made up when left out: what is unconfirmed needs an identity. */
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
  /** When the message is due; the past is now. */
  at: Date;
  delayMs?: undefined;
}

/** What the broker has taken. */
export interface PublishReceipt {
  exchange: string;
  routingKey: string;
  /** The delay that the network keeps, in milliseconds. */
  delayMs: number;
  /** The earliest time at which the message arrives. */
  dueAt: Date;
  messageId: string;
}
