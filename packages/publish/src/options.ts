/** How a publisher behaves. */
export interface DelayPublisherOptions {
  /** Messages that may wait for the broker's confirm at once; further ones wait their turn. Default 1000. */
  maxUnconfirmed?: number;
  /** How long to wait for the broker's confirm, in milliseconds. Default 30000. */
  confirmTimeoutMs?: number;
  /** Default of each message's tolerance: how much later it may be, as a fraction of its delay, for fewer hops. Default 0. */
  tolerance?: number;
}

/** AMQP properties that pass through unchanged. */
export interface MessageProperties {
  contentType?: string;
  contentEncoding?: string;
  headers?: Record<string, unknown>;
  /** 0 to 255. */
  priority?: number;
  correlationId?: string;
  replyTo?: string;
  /** Made up when left out: what is unconfirmed needs an identity. */
  messageId?: string;
  /** Seconds since 1970. */
  timestamp?: number;
  type?: string;
  userId?: string;
  appId?: string;
}

/** One message's delay and properties; exactly one of `delayMs` and `at`. */
export interface DelayedMessageOptions extends MessageProperties {
  /** Delay in milliseconds, rounded up to the network's unit. */
  delayMs?: number;
  /** When the message is due; the past is now. */
  at?: Date;
  /** See {@link DelayPublisherOptions.tolerance}. */
  tolerance?: number;
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
