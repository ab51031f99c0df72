import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { Delivery, withoutBrokerHeaders } from "@rabbitmq-delay/publish/parts";
import { DelayGateway, DelayedStore, deliveryExchangesOf } from "@rabbitmq-delay/topology";
import { bodyBytesOf, copyWith, withBodyOf } from "../broker/bodies";
import { MessageLimits, NewDelayedMessage, checkBodyBytes, delayedMessage } from "../delayedMessage";
import { furtherKeyHeaders, storeHeaders } from "../headers";
import { hasMessageId } from "./fingerprint";
import { lostBytes } from "./lostBytes";

/** Headers that are for the store alone. */
const NOT_PASSED_ON: string[] = [
  ...[storeHeaders.deliverAt, storeHeaders.exchange, storeHeaders.routingKey],
  // Only the broker can vouch for a user: a publisher's own header would pass for it.
  storeHeaders.userId,
];

/** How a delay is read, and from when it counts. */
export interface DelayReading {
  /**
   * What the header `x-delay` may hold: `strict`, a number or a numeric text, everything else is refused; or `plugin`, what the delayed-message
   * plugin took, by its rules: a fraction is cut off, and what it took for no delay is delivered at once. Default `strict`.
   */
  delayRules?: DelayRules;
  /** `intake`: from when the store takes the message; `timestamp`: from the time in the publisher's AMQP property. Default `intake`. */
  countFrom?: "intake" | "timestamp";
  /** How far ahead of the store's clock a timestamp may be, in milliseconds; one further ahead is ignored. Default 60000. */
  maximumSkewMs?: number;
  /** How old a timestamp may be, in milliseconds; an older one is ignored. Default 604800000, a week. */
  maximumTimestampAgeMs?: number;
}

/** See {@link DelayReading}. */
export const delayRules = ["strict", "plugin"] as const;
export type DelayRules = (typeof delayRules)[number];

/** Defaults of {@link DelayReading}. */
export const defaultReading = {
  delayRules: "strict",
  countFrom: "intake",
  maximumSkewMs: 60_000,
  maximumTimestampAgeMs: 7 * 24 * 3600 * 1000,
} as const satisfies Required<DelayReading>;

const NO_BODY = Buffer.alloc(0);

/**
 * Reads when a delivered message is due, and where it goes then.
 * @param nowMs the time, in milliseconds since 1970
 * @param reading how a delay is read, and from when it counts
 * @param delaysFromMs the time from which delays count that begin now; default `nowMs`
 * @throws MessageRefusedError naming the header or property and what is allowed
 */
export function interpret(
  delivery: Delivery,
  descriptor: DelayedStore | DelayGateway,
  limits: MessageLimits,
  nowMs: number,
  reading: DelayReading = {},
  delaysFromMs = nowMs,
): NewDelayedMessage {
  const lost = lostBytes(delivery);
  if (lost !== undefined) {
    throw new MessageRefusedError(
      lost,
      "it has bytes that are not UTF-8, a field named __proto__ or too many levels, and would arrive changed",
    );
  }
  const { properties } = delivery;
  const { headers = {}, userId, messageId, ...passedOn } = properties;
  const delayMs = delayOf(headers[storeHeaders.delay], reading);
  const at = timeOf(headers[storeHeaders.deliverAt]);
  if (delayMs !== undefined && at !== undefined) {
    throw new MessageRefusedError(storeHeaders.delay, `give one of it and ${storeHeaders.deliverAt}, not both`);
  }
  const due = at === undefined ? { delayMs: delayMs ?? 0 } : { at };
  const kept = Object.entries(withoutBrokerHeaders(headers)).filter(([name]) => !NOT_PASSED_ON.includes(name));
  checkBodyBytes(bodyBytesOf(delivery), limits.maximumBodyBytes);
  const bodiless = delayedMessage(
    {
      ...passedOn,
      ...(hasMessageId(delivery) ? { messageId } : {}),
      ...due,
      ...destinationOf(delivery, headers, descriptor),
      body: NO_BODY,
      headers: {
        ...Object.fromEntries(kept),
        ...(delayMs === undefined ? {} : { [storeHeaders.delay]: delayMs > 0 ? -delayMs : delayMs }),
        ...(userId === undefined ? {} : { [storeHeaders.userId]: userId }),
      },
    },
    limits,
    nowMs,
  );
  const message = withBodyOf(bodiless, delivery);
  if (delayMs === undefined || delayMs <= 0) return message;
  const dueMs = startOf(properties.timestamp, delaysFromMs, reading) + Math.ceil(delayMs);
  return copyWith(message, { dueAt: new Date(Math.max(nowMs, dueMs)) });
}

/** Whether a message says when it is due, and not after which delay. */
export function hasDueTime({ properties: { headers = {} } }: Delivery): boolean {
  return timeOf(headers[storeHeaders.deliverAt]) !== undefined;
}

/** When a delay began. AMQP's timestamps are whole seconds; the end of the second is used, so that no message is early. */
function startOf(timestamp: unknown, nowMs: number, given: DelayReading): number {
  const { countFrom, maximumSkewMs, maximumTimestampAgeMs } = { ...defaultReading, ...given };
  if (countFrom === "intake" || typeof timestamp !== "number") return nowMs;
  const endMs = (timestamp + 1) * 1000;
  const isBelieved = timestamp * 1000 - nowMs <= maximumSkewMs && nowMs - endMs <= maximumTimestampAgeMs;
  return isBelieved ? endMs : nowMs;
}

function delayOf(value: unknown, { delayRules: rules = defaultReading.delayRules }: DelayReading): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (rules === "plugin") return delayByPlugin(value);
  const delayMs = typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
  if (typeof delayMs === "number" && Number.isFinite(delayMs)) return delayMs;
  throw headerRefusal(storeHeaders.delay, value, "it must be a number of milliseconds");
}

/** The plugin's timers took no more: 2^32 - 1 (its README, "Performance Impact"); a longer delay was none. */
const PLUGINS_MAXIMUM_MS = 0xffff_ffff;

/** What the plugin took for a delay (its rabbit_delayed_message_utils.erl); on a text that is no integer, or a decimal, it failed. */
function delayByPlugin(given: unknown): number | undefined {
  // Other clients send texts as bytes, which the plugin read from 3.13 on.
  const value = Buffer.isBuffer(given) ? given.toString("latin1") : given;
  const isText = typeof value === "string";
  if ((isText && !/^[+-]?\d+$/.test(value)) || (value as { "!"?: unknown })["!"] === "decimal") {
    throw headerRefusal(storeHeaders.delay, value, "the plugin took no text but that of an integer, and no decimal");
  }
  if (!isText && typeof value !== "number") return undefined;
  const delayMs = Math.trunc(Number(value));
  return delayMs > 0 && delayMs <= PLUGINS_MAXIMUM_MS ? delayMs : undefined;
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;

function timeOf(value: unknown): Date | undefined {
  if (value === undefined || value === null) return undefined;
  const timestamp = value as { "!"?: unknown; value?: unknown };
  const isTimestamp = timestamp["!"] === "timestamp" && typeof timestamp.value === "number";
  const ms = isTimestamp ? (timestamp.value as number) * 1000 : value;
  const at = typeof ms === "number" || (typeof ms === "string" && ISO_TIME.test(ms)) ? new Date(ms) : undefined;
  if (at !== undefined && !Number.isNaN(at.getTime())) return at;
  const allowed =
    "it must be ISO-8601 text such as 2030-01-31T12:00:00Z, an AMQP timestamp, or milliseconds since 1970";
  throw headerRefusal(storeHeaders.deliverAt, value, allowed);
}

function destinationOf(
  delivery: Delivery,
  headers: Record<string, unknown>,
  descriptor: DelayedStore | DelayGateway,
): Destination {
  const exchange = textOf(storeHeaders.exchange, headers) ?? deliveryOf(delivery.exchange, descriptor);
  const routingKey = textOf(storeHeaders.routingKey, headers) ?? delivery.routingKey;
  return checkDestination({ exchange, routingKey }, headers, descriptor);
}

function forwardOf(exchange: string, forwards: DelayedStore["forwards"]): DelayedStore["forwards"][number] | undefined {
  return forwards.find((one) => one.exchange === exchange);
}

/** Headers by which a message that came by a forward is delivered there too when it is published to the intake once more. */
export function replayHeaders(
  { exchange, properties: { headers = {} } }: Delivery,
  { forwards }: DelayedStore | DelayGateway,
): Record<string, unknown> {
  const forward = forwardOf(exchange, forwards);
  return forward === undefined || storeHeaders.exchange in headers ? {} : { [storeHeaders.exchange]: forward.delivery };
}

/**
 * Where what came by an exchange is delivered. Of an exchange that the descriptor does not name, e.g. a former forward that still leads to the
 * intake, nobody knows: a queue of the routing key's name may be another service's.
 */
function deliveryOf(exchange: string, { name, forwards }: DelayedStore | DelayGateway): string {
  const forward = forwardOf(exchange, forwards);
  if (forward !== undefined || [name, ""].includes(exchange)) return forward?.delivery ?? "";
  const allowed = `no forward says where messages of exchange ${exchange} are delivered; give one, or this header`;
  throw new MessageRefusedError(`headers.${storeHeaders.exchange}`, allowed);
}

/** Where a due message goes. */
export interface Destination {
  exchange: string;
  routingKey: string;
}

/**
 * Checks where a message goes when it is due; a queue that its own process consumes would lead it round in circles.
 * @throws MessageRefusedError naming the header and what is allowed
 */
export function checkDestination(
  { exchange, routingKey }: Destination,
  headers: Record<string, unknown>,
  descriptor: DelayedStore | DelayGateway,
): Destination {
  const consumed = descriptor.kind === "delay-gateway" ? descriptor.returnQueue : descriptor.controlQueue;
  const own = [descriptor.intakeQueue, consumed, ""];
  const allowed = deliveryExchangesOf(descriptor);
  if (!allowed.includes(exchange)) {
    const names = allowed.map(describeExchange).join(", ") || "none";
    const process = descriptor.kind === "delay-gateway" ? "gateway" : "store";
    throw headerRefusal(storeHeaders.exchange, exchange, `the ${process} may publish to ${names}`);
  }
  if (exchange !== "") return { exchange, routingKey };
  if (own.includes(routingKey)) {
    throw headerRefusal(storeHeaders.routingKey, routingKey, "it must name the queue that the message is for");
  }
  for (const name of furtherKeyHeaders) {
    const keys = headers[name];
    const found = Array.isArray(keys) ? keys.find((key) => own.includes(key as string)) : undefined;
    if (found !== undefined)
      throw headerRefusal(name, found, "it must name another queue than those of the process itself");
  }
  return { exchange, routingKey };
}

function textOf(name: string, headers: Record<string, unknown>): string | undefined {
  const value = headers[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw headerRefusal(name, value, "it must be a text");
  return value;
}

function describeExchange(exchange: string): string {
  return exchange === "" ? "the default exchange" : JSON.stringify(exchange);
}

function headerRefusal(name: string, value: unknown, allowed: string): MessageRefusedError {
  return new MessageRefusedError(`headers.${name}`, `${JSON.stringify(value)} is not allowed; ${allowed}`);
}
