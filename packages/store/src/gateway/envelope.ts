import { randomUUID } from "node:crypto";
import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { Delivery, DeliveryProperties } from "@rabbitmq-delay/publish/parts";
import { DelayGateway, encodeDelay } from "@rabbitmq-delay/topology";
import { copyWith, withBodyOf } from "../broker/bodies";
import type { NewDelayedMessage } from "../delayedMessage";
import { storeHeaders } from "../headers";
import { checkDestination } from "../intake/interpret";

/** The one header of a message while it waits in the network: what it is to be when it comes back. */
export const envelopeHeader = "rabbitmq-delay.gateway";

/** A message that is to wait in the network. */
export interface Waiting {
  message: NewDelayedMessage;
  /** For how long, in milliseconds. */
  waitMs: number;
  /** How often its delivery has failed. */
  failureCount: number;
  /** Why it belongs into the error queue, which did not accept it; it is not delivered any more. */
  refusal?: string;
  /** An id of the envelope in which it came, which is the same when the broker delivers that once more; none before its first round. */
  roundId?: string;
}

/** When, and by which process, a message was sent into the network. */
export interface Sending {
  /** An id of the process. */
  sender: string;
  /** By the clock of that process that never jumps, in milliseconds. */
  elapsedMs: number;
  /** By the time of day, in milliseconds since 1970. */
  timeMs: number;
}

/** A message that came back. */
export interface Returned extends Waiting {
  /** How much of `waitMs` the network was to keep it for; the rest takes further rounds. */
  roundMs: number;
  sent: Sending;
}

/**
 * Makes the copy of a message that waits in the network, which comes back to the gateway when its time is over. A wait beyond the network's
 * longest takes several rounds. Headers that would lead it elsewhere meanwhile, and its own expiration, wait inside the envelope.
 * @throws MessageRefusedError for a header that no envelope can hold
 */
export function wrap(
  { message, waitMs, failureCount, refusal }: Waiting,
  { network, returnQueue }: DelayGateway,
  { sender, elapsedMs, timeMs }: Sending,
): NewDelayedMessage {
  const { expiration, headers = {}, ...properties } = message.properties;
  if (Object.hasOwn(headers, "!")) {
    throw new MessageRefusedError("headers.!", "a header of this name can't wait in a network");
  }
  const roundMs = Math.min(waitMs, network.maximumDelayMs);
  const { exchange, routingKey } = encodeDelay(network, roundMs, returnQueue);
  const envelope = {
    exchange: message.exchange,
    routingKey: message.routingKey,
    dueAt: message.dueAt.toISOString(),
    failureCount,
    ...(refusal === undefined ? {} : { refusal }),
    wait: { waitMs, roundMs, sender, elapsedMs, timeMs, roundId: randomUUID() },
    headers,
    ...(expiration === undefined ? {} : { expiration }),
  };
  return copyWith(message, {
    exchange,
    routingKey,
    properties: { ...properties, headers: { [envelopeHeader]: envelope } },
  });
}

/** For less than this, a message waits for all of its delay once more. */
const IN_PROCESS_MS = 250;

/**
 * How long a message waits that an intake has read. It waits for the delay that it asks for, without the moment in this process: messages of
 * one delay then take one way through the network, and keep their order.
 */
export function firstWaitMs(message: NewDelayedMessage, nowMs: number): number {
  const leftMs = Math.max(0, message.dueAt.getTime() - nowMs);
  if (leftMs === 0) return 0;
  const asked = askedMs(message);
  return asked >= leftMs && asked - leftMs < IN_PROCESS_MS ? asked : leftMs;
}

/** The delay that a message asked for which an intake has read, in milliseconds; NaN without one. */
export function askedMs({ properties: { headers = {} } }: NewDelayedMessage): number {
  // The intake has turned its sign.
  return -(headers[storeHeaders.delay] as number);
}

/** Clocks of two processes may differ by as much without a message being sent round once more. */
const SKEW_MS = 100;
/** What a wait may seem shorter by, as the broker and this process count milliseconds. */
const GRAIN_MS = 2;

/**
 * How long a message that came back still has to wait, in milliseconds. Nothing depends on the time of day where the same process sent it;
 * where another one did, the network is believed, unless it gave the message back so early that something has shortened its wait.
 */
export function leftMs({ waitMs, roundMs, sent }: Returned, { sender, elapsedMs, timeMs }: Sending): number {
  if (sent.sender === sender) {
    const left = waitMs - (elapsedMs - sent.elapsedMs);
    return left > GRAIN_MS ? Math.ceil(left) : 0;
  }
  const early = roundMs - (timeMs - sent.timeMs);
  return waitMs - roundMs + (early > SKEW_MS ? Math.min(early, roundMs) : 0);
}

/** A message without a delay that says nothing, and comes back at once if the network leads anything back. */
export function probe({ network, returnQueue }: DelayGateway): NewDelayedMessage {
  const { exchange, routingKey } = encodeDelay(network, 0, returnQueue);
  return probeTo(exchange, routingKey);
}

/** The same by another way through the network; it comes back when its time there is over. */
export function probeTo(exchange: string, routingKey: string): NewDelayedMessage {
  const properties = { headers: { [envelopeHeader]: PROBE } };
  return { messageId: randomUUID(), dueAt: new Date(), exchange, routingKey, body: Buffer.alloc(0), properties };
}

const PROBE = "probe";

/** Whether a message that came back is a probe. */
export function isProbe({ properties }: Delivery): boolean {
  return properties.headers?.[envelopeHeader] === PROBE;
}

/**
 * Checks that a message may go where its envelope says.
 * @throws MessageRefusedError, e.g. where that was allowed when the message was sent, and is not any more
 */
export function checkReturned({ message }: Returned, gateway: DelayGateway): void {
  checkDestination(message, message.properties.headers ?? {}, gateway);
}

/**
 * Reads a message that came back from the network.
 * @throws MessageRefusedError for one that no gateway has sent
 */
export function unwrap(delivery: Delivery): Returned {
  const { properties } = delivery;
  const { headers: outer = {}, messageId = "", ...others } = properties;
  const envelope = outer[envelopeHeader];
  if (!isTable(envelope)) throw refusalOf("it is missing; only what a gateway has sent may come here");
  const { exchange, routingKey, headers, expiration, failureCount, refusal, wait } = envelope;
  const dueMs = timeOf(envelope.dueAt);
  if (typeof exchange !== "string" || typeof routingKey !== "string" || !isTable(headers))
    throw refusalOf("it lacks exchange, routingKey or headers");
  if (Object.hasOwn(headers, "!")) throw refusalOf('no gateway sends a header "!"');
  if (!isCount(failureCount) || ![expiration, refusal].every(isTextIfAny))
    throw refusalOf("its failureCount, expiration or refusal is malformed");
  const inner: DeliveryProperties = {
    ...others,
    headers,
    ...(expiration === undefined ? {} : { expiration: expiration as string }),
  };
  return {
    message: withBodyOf({ messageId, dueAt: new Date(dueMs), exchange, routingKey, properties: inner }, delivery),
    failureCount,
    ...(refusal === undefined ? {} : { refusal: refusal as string }),
    ...waitIn(wait),
  };
}

function waitIn(wait: unknown): Pick<Returned, "waitMs" | "roundMs" | "sent" | "roundId"> {
  const { waitMs, roundMs, sender, elapsedMs, timeMs, roundId } = isTable(wait) ? wait : {};
  if (typeof sender === "string" && isCount(waitMs) && isCount(roundMs) && isCount(elapsedMs) && isCount(timeMs)) {
    const sent = { sender, elapsedMs, timeMs };
    return { waitMs, roundMs, sent, ...(typeof roundId === "string" ? { roundId } : {}) };
  }
  throw refusalOf("it does not say how long the message waits");
}

function isTextIfAny(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

function timeOf(value: unknown): number {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw refusalOf("it has no time at which the message is due");
  return ms;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value);
}

function refusalOf(reason: string): MessageRefusedError {
  return new MessageRefusedError(`headers.${envelopeHeader}`, reason);
}
