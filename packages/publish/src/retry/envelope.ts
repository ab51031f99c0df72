import { isBrokerHeader, queuesLeft, recountHeaders } from "../brokerHeaders";
import { copyHeader, dueHeader } from "../headers";
import type { MessageProperties } from "../options";
import { Delivery, DeliveryProperties, OriginalMessage } from "./delivery";
import { errorHeaders } from "./failure";

/** Header that counts a message's redeliveries; the broker's own `x-death` is no longer read back from 4.0 on. */
export const redeliveriesHeader = "rabbitmq-delay.redeliveries";

/** Header with how often a message was tried before its copy was published, immediate tries included. */
export const triesHeader = "rabbitmq-delay.tries";

/** Header with the queue whose consumer published the copy, and to which the copy comes back. */
export const retryQueueHeader = "rabbitmq-delay.retry-queue";

/** Header with the routing key that a message was first published with; MassTransit's name for it. */
export const originalRoutingKeyHeader = "MT-Original-RoutingKey";

/** Header, a table, with the properties and headers of a message that would lead its copy astray. */
export const originalHeader = "rabbitmq-delay.original";

/**
 * Header with the user id that a message says it had before its copies. The broker checks a user id when the message itself is published.
 * Nobody can check this header: anyone who may publish to the queue can write it.
 */
export const userIdHeader = "rabbitmq-delay.user-id";

/**
 * A copy's headers are not as this package writes them.
 * @example
 * ```ts
 * import { MalformedCopyError, RetryEvent } from "@rabbitmq-delay/publish";
 *
 * export const onFailure = (event: RetryEvent): void => {
 *   if (event.error instanceof MalformedCopyError) console.error("a copy of another program:", event.error.message);
 * };
 * ```
 */
export class MalformedCopyError extends Error {
  override readonly name = "MalformedCopyError";
}

interface Stash {
  exchange?: string;
  expiration?: string;
  /** Headers that the copy can't have: `CC`, and those whose names the copy itself uses. */
  headers?: Record<string, unknown>;
  /** Further headers that belong to the copy, e.g. those by which a vendor's clients recognize a delay. */
  added?: string[];
}

/**
 * Headers that belong to the copy; `x-delay` is the archived plugin's, which turns it negative and keeps it. The due time is the copy's,
 * too: the message that failed doesn't know it.
 */
const copyHeaders = [
  ...[redeliveriesHeader, triesHeader, retryQueueHeader, originalRoutingKeyHeader, originalHeader],
  ...[copyHeader, dueHeader, "x-delay"],
];
const ownHeaders = new Set([...copyHeaders, ...Object.values<string>(errorHeaders)]);

/**
 * Restores a message as it was first published: its routing key, exchange, properties and headers. The user id is an exception, because
 * only the broker can vouch for it: it stays in {@link userIdHeader}. A message that somebody moved back out of an error queue counts its
 * redeliveries anew, and so does one that left the queue it came back to for this one.
 * @param queue the queue that it was consumed from
 * @throws MalformedCopyError when headers of this package have values that it doesn't write
 */
export function restore(delivery: Delivery, queue?: string): OriginalMessage {
  const { headers = {}, ...properties } = delivery.properties;
  const count = headers[redeliveriesHeader];
  if (count === undefined) return readUncopied(delivery);
  if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 0) {
    throw new MalformedCopyError(`header ${redeliveriesHeader} is ${JSON.stringify(count)}, not a count`);
  }
  const stash = (headers[originalHeader] ?? {}) as Stash;
  const routingKey = headers[originalRoutingKeyHeader];
  if (typeof stash !== "object" || typeof routingKey !== "string") {
    throw new MalformedCopyError(
      `a copy needs the header ${originalRoutingKeyHeader}, and ${originalHeader} as a table`,
    );
  }
  const { exchange = "", expiration, added = [] } = stash;
  const isOwn = (name: string): boolean => ownHeaders.has(name) || added.includes(name) || isBrokerHeader(name);
  const kept = Object.entries(headers).filter(([name]) => !isOwn(name));
  return {
    exchange,
    routingKey,
    body: delivery.body,
    properties: {
      ...properties,
      ...(expiration === undefined ? {} : { expiration }),
      headers: { ...Object.fromEntries(kept), ...stash.headers },
    },
    redeliveries: isFromErrorQueue(headers, queue) || hasMovedOn(headers, queue) ? 0 : count,
  };
}

/**
 * How often a message was tried before its copy was published; undefined if that is not known, as for a message that is not a copy.
 * @throws MalformedCopyError when the copy says something else than a count
 */
export function triesBefore({ properties: { headers = {} } }: Delivery): number | undefined {
  const tries = headers[triesHeader];
  if (headers[redeliveriesHeader] === undefined || tries === undefined) return undefined;
  if (typeof tries === "number" && Number.isSafeInteger(tries) && tries >= 1) return tries;
  throw new MalformedCopyError(`header ${triesHeader} is ${JSON.stringify(tries)}, not a count`);
}

/**
 * Whether a copy came back to the queue of its own consumer and left it for another one's, e.g. because its TTL was over: the tries of the
 * one service are not those of the other. A copy that came to several queues at once has not been in any yet, and keeps its count:
 * otherwise consumers that get each other's copies would make more of them for ever.
 */
function hasMovedOn(headers: Record<string, unknown>, queue: string | undefined): boolean {
  const own = headers[retryQueueHeader];
  return queue !== undefined && typeof own === "string" && own !== queue && queuesLeft(headers).includes(own);
}

/**
 * Whether a message came from where failed messages end. That is the error queue, whose copies say why, while copies that come back have no
 * such header; or the dead-letter target of the queue that it is in now, from which no message comes back by itself.
 */
function isFromErrorQueue(headers: Record<string, unknown>, queue: string | undefined): boolean {
  if (errorHeaders.tries in headers) return true;
  return queue !== undefined && queuesLeft(headers)[0] === queue;
}

/** A message of which no copy was made; headers that the broker adds to a redelivered message are hidden from the handler. */
function readUncopied(delivery: Delivery): OriginalMessage {
  const { headers } = delivery.properties;
  if (headers === undefined) return { ...delivery, redeliveries: 0 };
  const kept = Object.entries(headers).filter(([name]) => !recountHeaders.includes(name));
  return { ...delivery, properties: { ...delivery.properties, headers: Object.fromEntries(kept) }, redeliveries: 0 };
}

/**
 * The properties of a copy that goes round: all of the original's, without those that would make it early (`expiration`), refused (another
 * user's id) or sent elsewhere (`CC`). Those wait in a header for {@link restore}, the user's id in {@link userIdHeader}.
 * @param redeliveries how often the message has come back when the copy arrives; 0 for one that was moved out of the way at its first try
 * @param more headers of the mechanism
 */
export function copyProperties(
  original: Delivery,
  redeliveries: number,
  more: Record<string, unknown> = {},
): MessageProperties {
  const { expiration, userId, headers = {}, ...properties }: DeliveryProperties = original.properties;
  const living = Object.entries(headers).filter(([name]) => !isBrokerHeader(name));
  const added = Object.keys(more).filter((name) => !ownHeaders.has(name));
  const isSetAside = ([name]: [string, unknown]): boolean =>
    name === "CC" || ownHeaders.has(name) || added.includes(name);
  const setAside = Object.fromEntries(living.filter(isSetAside));
  const stash: Stash = {
    ...(original.exchange === "" ? {} : { exchange: original.exchange }),
    ...(expiration === undefined ? {} : { expiration }),
    ...(Object.keys(setAside).length === 0 ? {} : { headers: setAside }),
    ...(added.length === 0 ? {} : { added }),
  };
  return {
    ...properties,
    headers: {
      ...Object.fromEntries(living.filter((entry) => !isSetAside(entry))),
      ...(userId === undefined ? {} : { [userIdHeader]: userId }),
      ...more,
      [redeliveriesHeader]: redeliveries,
      [originalRoutingKeyHeader]: original.routingKey,
      ...(Object.keys(stash).length === 0 ? {} : { [originalHeader]: stash }),
    },
  };
}
