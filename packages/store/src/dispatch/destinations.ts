import { createHash } from "node:crypto";
import { dueHeader } from "@rabbitmq-delay/publish";
import type { DelayGateway, DelayedStore } from "@rabbitmq-delay/topology";
import type { NewDelayedMessage } from "../delayedMessage";
import { furtherKeyHeaders, storeHeaders } from "../headers";

/** The type of an exchange, which says by what it finds the queues of a message. */
export type ExchangeType = "fanout" | "headers" | "direct" | "topic";

/** Headers that differ from message to message, and by which nobody binds. */
const OF_THE_DELAY: readonly string[] = [storeHeaders.delay, storeHeaders.deliverAt, dueHeader];

/** Names the destinations of messages: those of one name go to the same queues. */
export class Destinations {
  /** @param types types of exchanges, by name; another exchange is taken for one that finds queues by the routing key */
  constructor(private readonly types: ReadonlyMap<string, ExchangeType> = new Map()) {}

  /** Where a message goes, as text. */
  of({ exchange, routingKey, properties: { headers = {} } }: NewDelayedMessage): string {
    const type = this.types.get(exchange);
    if (type === "fanout") return exchange;
    if (type === "headers") return `${exchange}\0headers ${hashOf(headers)}`;
    const furtherKeys = furtherKeyHeaders.map((name) => headers[name]).filter((keys) => keys !== undefined);
    return [exchange, routingKey, ...furtherKeys.map((keys) => JSON.stringify(keys))].join("\0");
  }
}

/** The types of the exchanges that a store, or a gateway, publishes to, as far as its descriptor knows them. */
export function exchangeTypesOf({ forwards, errorQueue }: DelayedStore | DelayGateway): Map<string, ExchangeType> {
  return new Map<string, ExchangeType>([
    ...forwards.map(({ delivery, type }) => [delivery, type] as const),
    [errorQueue, "fanout"],
  ]);
}

function hashOf(headers: Record<string, unknown>): string {
  const entries = Object.entries(headers).filter(([name]) => !OF_THE_DELAY.includes(name));
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify(sorted, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)))
    .digest("base64");
}
