import type { DelayedMessage } from "../delayedMessage";
import type { ListedMessage } from "../delayedMessageStore";
import { propertiesFromJson } from "../messageProperties";

/**
 * Columns of a message, without its body.
 * @param ms a time as milliseconds since 1970
 */
export function columnsOf(ms: (column: string) => string): string {
  const times = ["due_at", "attempt_at", "stored_at"].map((column) => `${ms(column)} AS ${column}`);
  return ["id", "message_id", ...times, "failure_count", "exchange", "routing_key", "properties"].join(", ");
}

/** A row, as a driver gives it; times in milliseconds since 1970. */
export interface Row {
  id: string | number;
  message_id: string;
  due_at: number;
  attempt_at: number;
  stored_at: number;
  failure_count: number;
  exchange: string;
  routing_key: string;
  /** JSON as text, or parsed by the driver. */
  properties: unknown;
  body: Buffer;
  body_bytes: number;
}

function toCommonFields(row: Row): Omit<DelayedMessage, "body"> {
  return {
    id: String(row.id),
    messageId: row.message_id,
    dueAt: new Date(row.due_at),
    attemptAt: new Date(row.attempt_at),
    failureCount: row.failure_count,
    exchange: row.exchange,
    routingKey: row.routing_key,
    properties: propertiesFromJson(row.properties),
  };
}

export function toMessage(row: Row): DelayedMessage {
  return { ...toCommonFields(row), body: row.body };
}

export function toListed(row: Row): ListedMessage {
  return { ...toCommonFields(row), storedAt: new Date(row.stored_at), bodyBytes: row.body_bytes };
}
