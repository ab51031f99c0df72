import type { DelayedMessage, NewDelayedMessage } from "../delayedMessage";
import type { ListedMessage } from "../delayedMessageStore";
import { propertiesFromJson, propertiesToJson } from "../messageProperties";
import type { Dialect } from "../sql/filter";

/** Columns of a message, without its body. */
export const columns =
  "id, message_id, due_at, attempt_at, stored_at, failure_count, exchange, routing_key, properties";

/** A row as `pg` gives it. */
export interface Row {
  id: string;
  message_id: string;
  due_at: Date;
  attempt_at: Date;
  stored_at: Date;
  failure_count: number;
  exchange: string;
  routing_key: string;
  properties: unknown;
  body: Buffer;
  body_bytes: number;
}

function common(row: Row): Omit<DelayedMessage, "body"> {
  return {
    id: row.id,
    messageId: row.message_id,
    dueAt: row.due_at,
    attemptAt: row.attempt_at,
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
  return { ...common(row), storedAt: row.stored_at, bodyBytes: row.body_bytes };
}

/** Arrays, one a column, for one statement that inserts any number of rows. */
export function toArrays(messages: NewDelayedMessage[]): unknown[] {
  return [
    messages.map(({ messageId }) => messageId),
    messages.map(({ dueAt }) => dueAt),
    messages.map(({ exchange }) => exchange),
    messages.map(({ routingKey }) => routingKey),
    messages.map(({ properties }) => propertiesToJson(properties)),
    messages.map(({ body }) => body),
  ];
}

export const dialect: Dialect = {
  placeholder: (index) => `$${index}`,
  time: (at) => at,
  header: (name, value, add) => `properties->'headers' @> ${add(JSON.stringify({ [name]: value }))}::jsonb`,
};
