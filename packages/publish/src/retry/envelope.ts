import { copyHeader } from "../headers";
import type { MessageProperties } from "../options";
import { Delivery, DeliveryProperties, OriginalMessage } from "./delivery";
import { errorHeaders } from "./failure";

/** Header that counts a message's redeliveries; the broker's own `x-death` is no longer read back from 4.0 on. */
export const redeliveriesHeader = "rabbitmq-delay.redeliveries";

/** Header with the routing key that a message was first published with; MassTransit's name for it. */
export const originalRoutingKeyHeader = "MT-Original-RoutingKey";

/** Header, a table, with what else a message had that would lead its copy astray. */
export const originalHeader = "rabbitmq-delay.original";

/** A copy's headers are not what this package writes. */
export class MalformedCopyError extends Error {
  override readonly name = "MalformedCopyError";
}

interface Stash {
  exchange?: string;
  expiration?: string;
  userId?: string;
  /** Headers that the copy can't have: `CC`, and those whose names are used by the copy itself. */
  headers?: Record<string, unknown>;
}

/** What the broker adds when a message expires or is rejected (`x-death` alone grows with each round), or comes again. */
function isBrokerHeader(name: string): boolean {
  if (recountHeaders.includes(name)) return true;
  return name === "x-death" || name.startsWith("x-first-death-") || name.startsWith("x-last-death-");
}

/** What a copy has of its own; `x-delay` is the archived plugin's, which turns it negative and keeps it. */
const copyHeaders = [redeliveriesHeader, originalRoutingKeyHeader, originalHeader, copyHeader, "x-delay"];
const ownHeaders = new Set([...copyHeaders, ...Object.values<string>(errorHeaders)]);

/**
 * Gives a message back as it was first published: its routing key, exchange, properties and headers.
 * @throws MalformedCopyError when headers of this package have values that it doesn't write
 */
export function restore(delivery: Delivery): OriginalMessage {
  const { headers = {}, ...properties } = delivery.properties;
  const count = headers[redeliveriesHeader];
  if (count === undefined) return untouched(delivery);
  if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 1) {
    throw new MalformedCopyError(`header ${redeliveriesHeader} is ${JSON.stringify(count)}, not a count`);
  }
  const stash = (headers[originalHeader] ?? {}) as Stash;
  const routingKey = headers[originalRoutingKeyHeader];
  if (typeof stash !== "object" || typeof routingKey !== "string") {
    throw new MalformedCopyError(
      `a copy needs the header ${originalRoutingKeyHeader}, and ${originalHeader} as a table`,
    );
  }
  const kept = Object.entries(headers).filter(([name]) => !ownHeaders.has(name) && !isBrokerHeader(name));
  const { exchange = "", expiration, userId } = stash;
  return {
    exchange,
    routingKey,
    body: delivery.body,
    properties: {
      ...properties,
      ...(expiration === undefined ? {} : { expiration }),
      ...(userId === undefined ? {} : { userId }),
      headers: { ...Object.fromEntries(kept), ...stash.headers },
    },
    redeliveries: count,
  };
}

/** A message that no copy was made of; what the broker adds to one that comes again is none of the handler's business. */
function untouched(delivery: Delivery): OriginalMessage {
  const { headers } = delivery.properties;
  if (headers === undefined) return { ...delivery, redeliveries: 0 };
  const kept = Object.entries(headers).filter(([name]) => !recountHeaders.includes(name));
  return { ...delivery, properties: { ...delivery.properties, headers: Object.fromEntries(kept) }, redeliveries: 0 };
}
/** Headers by which a quorum queue counts deliveries. */
export const recountHeaders = ["x-delivery-count", "x-acquired-count"];

/**
 * The properties of a copy that goes round: all of the original's, without what would make it early (`expiration`), refused
 * (another user's id) or sent elsewhere (`CC`); those wait in a header for {@link restore}.
 * @param redeliveries how often the message will have come back with this copy
 * @param more headers of the mechanism
 */
export function copyProperties(
  original: Delivery,
  redeliveries: number,
  more: Record<string, unknown> = {},
): MessageProperties {
  const { expiration, userId, headers = {}, ...properties }: DeliveryProperties = original.properties;
  const living = Object.entries(headers).filter(([name]) => !isBrokerHeader(name));
  const isSetAside = ([name]: [string, unknown]): boolean => name === "CC" || ownHeaders.has(name);
  const setAside = Object.fromEntries(living.filter(isSetAside));
  const stash: Stash = {
    ...(original.exchange === "" ? {} : { exchange: original.exchange }),
    ...(expiration === undefined ? {} : { expiration }),
    ...(userId === undefined ? {} : { userId }),
    ...(Object.keys(setAside).length === 0 ? {} : { headers: setAside }),
  };
  return {
    ...properties,
    headers: {
      ...Object.fromEntries(living.filter((entry) => !isSetAside(entry))),
      ...more,
      [redeliveriesHeader]: redeliveries,
      [originalRoutingKeyHeader]: original.routingKey,
      ...(Object.keys(stash).length === 0 ? {} : { [originalHeader]: stash }),
      [copyHeader]: nextCopy(),
    },
  };
}

let copies = 0;

/** Tells copies on their way to the broker apart, which only this process has to. */
function nextCopy(): number {
  copies = (copies + 1) % 0x7fffffff;
  return copies;
}
