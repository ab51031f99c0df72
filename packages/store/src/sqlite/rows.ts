import type { DelayedMessage } from "../delayedMessage";
import type { ListedMessage } from "../delayedMessageStore";
import { propertiesFromJson } from "../messageProperties";
import type { Dialect } from "../sql/filter";

/** Columns of a message, without its body. */
export const columns =
  "id, message_id, due_at, attempt_at, stored_at, failure_count, exchange, routing_key, properties, body_bytes";

/** A row as `better-sqlite3` gives it. */
export interface Row {
  id: number;
  message_id: string;
  due_at: number;
  attempt_at: number;
  stored_at: number;
  failure_count: number;
  exchange: string;
  routing_key: string;
  properties: string;
  body_bytes: number;
  body: Buffer;
}

function common(row: Row): Omit<DelayedMessage, "body"> {
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
  return { ...common(row), body: row.body };
}

export function toListed(row: Row): ListedMessage {
  return { ...common(row), storedAt: new Date(row.stored_at), bodyBytes: row.body_bytes };
}

export const dialect: Dialect = {
  placeholder: () => "?",
  time: (at) => at.getTime(),
  header: (name, value, add) => {
    const kept = `SELECT 1 FROM json_each(properties, '$.headers') AS header WHERE header.key = ${add(name)}`;
    if (typeof value === "boolean") return `EXISTS (${kept} AND header.type = ${add(String(value))})`;
    const types = typeof value === "string" ? "('text')" : "('integer', 'real')";
    return `EXISTS (${kept} AND header.type IN ${types} AND header.value = ${add(value)})`;
  },
};
