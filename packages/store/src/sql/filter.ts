import type { MessageFilter } from "../delayedMessageStore";
import { StoreMismatchError } from "../errors";

/** The SQL in which databases differ. */
export interface Dialect {
  placeholder(index: number): string;
  time(at: Date): unknown;
  /** A condition on one header; `add` takes a value and gives its placeholder. */
  header(name: string, value: string | number | boolean, add: (value: unknown) => string): string;
}

/** A part of a statement, with the values of its placeholders. */
export interface Condition {
  sql: string;
  values: unknown[];
}

/** Turns a filter into a condition; an empty filter gives one that is always true. */
export function toCondition(filter: MessageFilter, dialect: Dialect): Condition {
  const values: unknown[] = [];
  const add = (value: unknown): string => dialect.placeholder(values.push(value));
  const { messageId, exchange, routingKey, headers = {}, before, after, minimumFailures } = filter;
  const parts = [
    messageId === undefined ? [] : [`message_id = ${add(messageId)}`],
    exchange === undefined ? [] : [`exchange = ${add(exchange)}`],
    routingKey === undefined ? [] : [`routing_key = ${add(routingKey)}`],
    Object.entries(headers).map(([name, value]) => dialect.header(name, value, add)),
    before === undefined ? [] : [`attempt_at < ${add(dialect.time(before))}`],
    after === undefined ? [] : [`attempt_at >= ${add(dialect.time(after))}`],
    minimumFailures === undefined ? [] : [`failure_count >= ${add(minimumFailures)}`],
  ].flat();
  return { sql: parts.length === 0 ? "1 = 1" : parts.join(" AND "), values };
}

/** @throws StoreMismatchError for a filter that would match every message */
export function refuseEmpty(filter: MessageFilter): void {
  const { headers, ...others } = filter;
  const isEmpty =
    Object.keys(headers ?? {}).length === 0 && Object.values(others).every((value) => value === undefined);
  if (isEmpty) throw new StoreMismatchError("filter", "it is empty, which would be every message; give a condition");
}
