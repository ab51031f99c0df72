import type { MessageProperties } from "../options";

/** Properties of a message that is sent or received, including those that a delayed message may not have. */
export interface DeliveryProperties extends MessageProperties {
  /** The message's own TTL in milliseconds, as text. */
  expiration?: string;
}

/** A message as the broker delivered it. */
export interface Delivery {
  exchange: string;
  routingKey: string;
  body: Buffer;
  properties: DeliveryProperties;
}

/** A message as it was first published, however often it has come back since. */
export interface OriginalMessage extends Delivery {
  /** How often it has come back. */
  redeliveries: number;
}

/** A message as it was first published, and how often it was tried. */
export interface TriedMessage extends OriginalMessage {
  /**
   * Tries of the message before this one, in all deliveries together; with the broker's own delayed retry, as many as the policy implies
   * for the broker's count.
   */
  previousTries: number;
}
