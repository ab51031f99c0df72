import { randomUUID } from "node:crypto";
import { DelayNetwork, EncodedDelay, encodeDelay, parseDelayNetwork } from "rabbitmq-delay-topology";
import { ConfirmPort, ReturnedMessage, toConfirmPort } from "./confirmPort";
import {
  ChannelClosedError,
  MessageNackedError,
  MessageRefusedError,
  MessageReturnedError,
  PublishTimeoutError,
} from "./errors";
import { delayHeaders } from "./headers";
import { DelayPublisherOptions, DelayedMessageOptions, MessageProperties, PublishReceipt } from "./options";
import { Slots } from "./slots";

/** Publishes delayed messages; see {@link createDelayPublisher}. */
export interface DelayPublisher {
  /**
   * Publishes one message, persistent and mandatory.
   * @param destination an endpoint's name
   * @param body bytes, text (as UTF-8), or a value that is sent as JSON
   * @returns when the broker has confirmed it
   * @throws MessageRefusedError or DelayTopologyError before anything is sent; MessageReturnedError, MessageNackedError,
   * ChannelClosedError or PublishTimeoutError afterwards
   */
  publish(destination: string, body: unknown, options: DelayedMessageOptions): Promise<PublishReceipt>;
  /** Messages that the broker has not confirmed yet. */
  readonly unconfirmed: number;
}

interface Unconfirmed {
  exchange: string;
  routingKey: string;
  returned?: ReturnedMessage;
  fail: (error: Error) => void;
}

/** Properties that would make a message early or send copies past its delay, and why. */
const forbidden: Record<string, string> = {
  expiration: "the lower of it and a level's TTL wins, so it would make the message early; give a delay only",
  CC: "copies would be routed past the delay at every exchange; publish one message per destination",
  BCC: "copies would be routed past the delay at every exchange; publish one message per destination",
  mandatory: "every message is mandatory: one that no queue takes is an error",
  persistent: "every message is persistent: a transient one would be lost in a restart",
  deliveryMode: "every message is persistent: a transient one would be lost in a restart",
};

/**
 * Makes a publisher over a channel that the caller owns, opens and closes.
 * @param channel amqplib's confirm channel or rabbitmq-client's channel
 * @param network the descriptor that the broker's stack exports
 * @throws DelayTopologyError for a descriptor of another kind or version, MessageRefusedError for a channel without confirms
 * or an option out of range
 */
export function createDelayPublisher(
  channel: unknown,
  network: DelayNetwork,
  options: DelayPublisherOptions = {},
): DelayPublisher {
  return new ChannelPublisher(toConfirmPort(channel), parseDelayNetwork(network), options);
}

class ChannelPublisher implements DelayPublisher {
  private readonly pending = new Map<string, Unconfirmed[]>();
  private readonly slots: Slots;
  private readonly timeoutMs: number;
  private isClosed = false;
  private count = 0;

  constructor(
    private readonly port: ConfirmPort,
    private readonly network: DelayNetwork,
    private readonly options: DelayPublisherOptions,
  ) {
    this.slots = new Slots(positive("maxUnconfirmed", options.maxUnconfirmed ?? 1000));
    this.timeoutMs = positive("confirmTimeoutMs", options.confirmTimeoutMs ?? 30_000);
    port.onReturn((message) => this.markReturned(message));
    port.onClose(() => this.failAll());
  }

  get unconfirmed(): number {
    return this.count;
  }

  async publish(destination: string, body: unknown, options: DelayedMessageOptions): Promise<PublishReceipt> {
    refuseForbidden(options);
    const { delayMs: givenMs, at, tolerance, ...properties } = options;
    const encoded = encodeDelay(this.network, delayOf(givenMs, at), destination, {
      tolerance: tolerance ?? this.options.tolerance,
    });
    const bytes = toBuffer(body, properties);
    await this.slots.take();
    try {
      await this.port.writable();
      // A message that had to wait for its turn is not delayed twice: the time it was asked for counts from now or from `at`.
      const current =
        at === undefined ? encoded : encodeDelay(this.network, delayOf(undefined, at), destination, { tolerance });
      return await this.send(current, bytes, properties);
    } finally {
      this.slots.giveBack();
    }
  }

  private async send(encoded: EncodedDelay, body: Buffer, given: MessageProperties): Promise<PublishReceipt> {
    const { exchange, routingKey, delayMs } = encoded;
    const dueAt = new Date(Date.now() + delayMs);
    const messageId = given.messageId ?? randomUUID();
    const headers = { ...given.headers, ...delayHeaders(this.network, delayMs, dueAt) };
    if (this.isClosed) throw new ChannelClosedError(exchange, routingKey);
    const entry: Unconfirmed = { exchange, routingKey, fail: () => undefined };
    this.add(messageId, entry);
    try {
      await this.confirmation(entry, this.port.publish(exchange, routingKey, body, { ...given, messageId, headers }));
    } finally {
      this.remove(messageId, entry);
    }
    return { exchange, routingKey, delayMs, dueAt, messageId };
  }

  /** The first of: confirm, nack, return (which comes before its confirm), closed channel, timeout. */
  private confirmation(entry: Unconfirmed, published: Promise<boolean>): Promise<void> {
    const { exchange, routingKey } = entry;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new PublishTimeoutError(exchange, routingKey, this.timeoutMs)),
        this.timeoutMs,
      );
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        if (error === undefined) resolve();
        else reject(error);
      };
      entry.fail = settle;
      published.then(
        (taken) => {
          if (entry.returned !== undefined) {
            settle(new MessageReturnedError(exchange, routingKey, entry.returned.replyText));
          } else settle(taken ? undefined : new MessageNackedError(exchange, routingKey));
        },
        () => settle(new ChannelClosedError(exchange, routingKey)),
      );
    });
  }

  private add(messageId: string, entry: Unconfirmed): void {
    this.count++;
    const same = this.pending.get(messageId);
    if (same === undefined) this.pending.set(messageId, [entry]);
    else same.push(entry);
  }

  private remove(messageId: string, entry: Unconfirmed): void {
    this.count--;
    const left = (this.pending.get(messageId) ?? []).filter((other) => other !== entry);
    if (left.length === 0) this.pending.delete(messageId);
    else this.pending.set(messageId, left);
  }

  private markReturned(message: ReturnedMessage): void {
    const candidates = this.pending.get(message.messageId ?? "") ?? [];
    const entry = candidates.find(
      ({ exchange, routingKey, returned }) =>
        returned === undefined && exchange === message.exchange && routingKey === message.routingKey,
    );
    if (entry !== undefined) entry.returned = message;
  }

  private failAll(): void {
    this.isClosed = true;
    for (const { exchange, routingKey, fail } of [...this.pending.values()].flat()) {
      fail(new ChannelClosedError(exchange, routingKey));
    }
  }
}

function refuseForbidden(options: DelayedMessageOptions): void {
  const headers = (options.headers ?? {}) as Record<string, unknown>;
  for (const [name, reason] of Object.entries(forbidden)) {
    if ((options as Record<string, unknown>)[name] !== undefined) throw new MessageRefusedError(name, reason);
    if (/^B?CC$/.test(name) && headers[name] !== undefined) throw new MessageRefusedError(`headers.${name}`, reason);
  }
}

function delayOf(delayMs: number | undefined, at: Date | undefined): number {
  if ((delayMs === undefined) === (at === undefined)) {
    throw new MessageRefusedError("delayMs", "give exactly one of delayMs and at");
  }
  if (delayMs !== undefined) return delayMs;
  const due = at instanceof Date ? at.getTime() : Number.NaN;
  if (Number.isNaN(due)) throw new MessageRefusedError("at", "it must be a valid Date");
  return due - Date.now();
}

function toBuffer(body: unknown, properties: MessageProperties): Buffer {
  if (Buffer.isBuffer(body)) return body;
  if (body instanceof Uint8Array) return Buffer.from(body);
  if (typeof body === "string") return Buffer.from(body);
  const json = JSON.stringify(body) as string | undefined;
  if (json === undefined) throw new MessageRefusedError("body", "it must be bytes, text, or a value with a JSON form");
  properties.contentType ??= "application/json";
  return Buffer.from(json);
}

function positive(property: string, value: number): number {
  if (!Number.isFinite(value) || value < 1)
    throw new MessageRefusedError(property, `${value} is not allowed; it must be at least 1`);
  return Math.floor(value);
}
