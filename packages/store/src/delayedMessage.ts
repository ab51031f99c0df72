import { randomUUID } from "node:crypto";
import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { DeliveryProperties, toBuffer } from "@rabbitmq-delay/publish/parts";
import { brokerLimits, utf8Length } from "@rabbitmq-delay/topology";
import { unsendable } from "./sendable";

/** A message to be stored. */
export interface NewDelayedMessage {
  /** AMQP's message id; every copy of the message has it, so that consumers can recognize a repetition. */
  messageId: string;
  /** When it is due. */
  dueAt: Date;
  /** Its exchange when it is due; the empty name is the default exchange. */
  exchange: string;
  routingKey: string;
  body: Buffer;
  /** AMQP properties other than the message id. */
  properties: DeliveryProperties;
}

/** A message in a store. */
export interface DelayedMessage extends NewDelayedMessage {
  /** The store's own identity for it. */
  id: string;
  /** When its delivery is tried next: when it is due, or later after a failure. */
  attemptAt: Date;
  /** How often its delivery has failed. */
  failureCount: number;
}

/** Bounds of what a store takes. */
export interface MessageLimits {
  /** Longest delay, in milliseconds. Default {@link defaultLimits}. */
  maximumDelayMs: number;
  /** Largest body, in bytes. Default {@link defaultLimits}. */
  maximumBodyBytes: number;
}

/** Ten years, and the largest message that RabbitMQ 4 takes by default; source of that: its `max_message_size`. */
export const defaultLimits: MessageLimits = { maximumDelayMs: 3650 * 24 * 3600 * 1000, maximumBodyBytes: 16 << 20 };

/** The properties from which a message is made; exactly one of `delayMs` and `at`. */
export interface DelayedMessageInput extends DeliveryProperties {
  /** Delay in milliseconds; negative is 0. */
  delayMs?: number;
  /** When the message is due; a time in the past means now. */
  at?: Date;
  /** Exchange to which the due message is published; default: the default exchange, so that `routingKey` is a queue. */
  exchange?: string;
  routingKey: string;
  /** Bytes, text (as UTF-8), or a value that is sent as JSON. */
  body: unknown;
}

/**
 * Makes a message for a store.
 * @param limits bounds; default {@link defaultLimits}
 * @param nowMs the time, in milliseconds since 1970
 * @throws MessageRefusedError naming the property and what is allowed
 * @example
 * ```ts
 * import { delayedMessage } from "@rabbitmq-delay/store";
 *
 * export const message = delayedMessage({ routingKey: "Billing", body: { order: 17 }, delayMs: 900_000 });
 * ```
 */
export function delayedMessage(
  input: DelayedMessageInput,
  limits: Partial<MessageLimits> = {},
  nowMs = Date.now(),
): NewDelayedMessage {
  const { delayMs, at, exchange = "", routingKey, body, messageId = randomUUID(), ...given } = input;
  const { maximumDelayMs, maximumBodyBytes } = { ...defaultLimits, ...limits };
  const properties = { ...given };
  const bytes = toBuffer(body, properties);
  checkBodyBytes(bytes.length, maximumBodyBytes);
  const [refused] = unsendable(properties);
  if (refused !== undefined) throw new MessageRefusedError(...refused);
  checkText("exchange", exchange);
  checkText("routingKey", routingKey);
  checkText("messageId", messageId);
  return {
    messageId,
    dueAt: dueTime(delayMs, at, maximumDelayMs, nowMs),
    exchange,
    routingKey,
    body: bytes,
    properties,
  };
}

/** @throws MessageRefusedError for a body that is too large */
export function checkBodyBytes(bytes: number, maximumBodyBytes: number): void {
  if (bytes <= maximumBodyBytes) return;
  throw new MessageRefusedError("body", `it has ${bytes} bytes, at most ${maximumBodyBytes} are taken`);
}

/**
 * When a message is due; a time in the past means now.
 * @throws MessageRefusedError if neither or both are given, for an invalid time, or for a time too far away
 */
export function dueTime(
  delayMs: number | undefined,
  at: Date | undefined,
  maximumDelayMs: number,
  nowMs: number,
): Date {
  if ((delayMs === undefined) === (at === undefined)) {
    throw new MessageRefusedError("delayMs", "give exactly one of delayMs and at");
  }
  const property = delayMs === undefined ? "at" : "delayMs";
  const waitMs = delayMs ?? (at instanceof Date ? at.getTime() : Number.NaN) - nowMs;
  if (typeof waitMs !== "number" || Number.isNaN(waitMs)) {
    const allowed = property === "at" ? "a valid Date" : "a number of milliseconds";
    throw new MessageRefusedError(property, `${String(delayMs ?? at)} is not allowed; it must be ${allowed}`);
  }
  if (waitMs > maximumDelayMs) {
    throw new MessageRefusedError(property, `${waitMs} ms are not allowed; the longest delay is ${maximumDelayMs} ms`);
  }
  return new Date(nowMs + Math.ceil(Math.max(0, waitMs)));
}

/** Names and keys are AMQP short strings; PostgreSQL's text has no NUL. */
function checkText(property: string, text: unknown): void {
  if (typeof text !== "string" || text.includes("\0")) {
    throw new MessageRefusedError(property, `${JSON.stringify(text)} is not allowed; it must be a text without NUL`);
  }
  const bytes = utf8Length(text);
  if (bytes > brokerLimits.shortStringBytes) {
    throw new MessageRefusedError(
      property,
      `it has ${bytes} bytes, at most ${brokerLimits.shortStringBytes} are allowed`,
    );
  }
}
