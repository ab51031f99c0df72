import { MessageRefusedError } from "../errors";
import type { Delivery, DeliveryProperties } from "./delivery";

/** A message as amqplib delivers it. */
export interface AmqplibMessage {
  content: Buffer;
  fields: { exchange: string; routingKey: string; redelivered: boolean };
  properties: object;
}

/** A message as rabbitmq-client delivers it; its properties stand beside the body. */
export interface RabbitmqClientMessage {
  /** Bytes; a text for `text/plain`, and what JSON says for `application/json`, both without a content encoding. */
  body?: unknown;
  exchange: string;
  routingKey: string;
  redelivered: boolean;
}

/** A received message, as the client library of its consumer hands it on. */
export type ClientMessage = AmqplibMessage | RabbitmqClientMessage;

/** A message that was received once or more. */
export interface ClientDelivery extends Delivery {
  /** Whether the broker may have delivered it before. */
  isRedelivered: boolean;
}

/** Properties that are taken over: each publish sets the delivery mode itself, and AMQP 0-9-1 no longer has the cluster id. */
const PROPERTIES = [
  ...["contentType", "contentEncoding", "headers", "priority", "correlationId", "replyTo", "expiration"],
  ...["messageId", "timestamp", "type", "userId", "appId"],
];

/**
 * Reads a message of amqplib or rabbitmq-client.
 * @throws MessageRefusedError for anything else
 */
export function deliveryOf(message: ClientMessage): ClientDelivery {
  const { content, fields, properties } = (message ?? {}) as Partial<AmqplibMessage>;
  if (Buffer.isBuffer(content) && fields !== undefined) return toDelivery(fields, content, properties);
  const { exchange, routingKey, redelivered } = (message ?? {}) as Partial<RabbitmqClientMessage>;
  if (typeof exchange === "string" && typeof routingKey === "string" && typeof redelivered === "boolean") {
    const received = message as RabbitmqClientMessage;
    return toDelivery(received, bodyOf(received), received);
  }
  throw new MessageRefusedError(
    "message",
    "it must be a message as amqplib (with content, fields and properties) or rabbitmq-client delivers it",
  );
}

function toDelivery(
  { exchange, routingKey, redelivered }: AmqplibMessage["fields"],
  body: Buffer,
  properties: object = {},
): ClientDelivery {
  const kept = Object.entries(properties).filter(([name, value]) => value !== undefined && PROPERTIES.includes(name));
  return {
    ...{ exchange, routingKey, body, isRedelivered: redelivered },
    properties: Object.fromEntries(kept) as DeliveryProperties,
  };
}

/** Encodes what rabbitmq-client has decoded. Bytes that were no UTF-8, and numbers beyond 2^53 in JSON, are lost by then. */
function bodyOf({ body, ...properties }: RabbitmqClientMessage): Buffer {
  if (Buffer.isBuffer(body)) return body;
  const { contentType } = properties as { contentType?: string };
  return Buffer.from(contentType === "application/json" ? JSON.stringify(body) : String(body));
}
