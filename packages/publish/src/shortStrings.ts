import { brokerLimits, utf8Length } from "@rabbitmq-delay/topology/descriptors";

/** The properties that AMQP takes as short strings. */
export const shortStringProperties = [
  "contentType",
  "contentEncoding",
  "correlationId",
  "replyTo",
  "expiration",
  "messageId",
  "type",
  "userId",
  "appId",
] as const;

/** Whether a value is a text that AMQP takes as a short string, at most 255 bytes of UTF-8. */
export function isShortString(value: unknown): value is string {
  return typeof value === "string" && utf8Length(value) <= brokerLimits.shortStringBytes;
}
