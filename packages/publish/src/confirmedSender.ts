import type { ConfirmPort, ReturnedMessage } from "./confirmPort";
import {
  ChannelClosedError,
  MessageNackedError,
  MessageRefusedError,
  MessageReturnedError,
  PublishTimeoutError,
} from "./errors";
import { copyHeader } from "./headers";
import type { MessageProperties } from "./options";
import { Slots } from "./slots";

/** Limits of a sender; see `DelayPublisherOptions`. */
export interface SenderOptions {
  maxUnconfirmed?: number;
  confirmTimeoutMs?: number;
}

interface Unconfirmed {
  exchange: string;
  routingKey: string;
  returned?: ReturnedMessage;
  fail: (error: Error) => void;
}

/** Sends messages one by one to the broker's confirm, with a bounded number of them on their way. */
export class ConfirmedSender {
  private readonly pending = new Map<string, Unconfirmed[]>();
  private readonly slots: Slots;
  private readonly timeoutMs: number;
  private isClosed = false;
  private count = 0;

  /** @throws MessageRefusedError for an option out of range */
  constructor(
    private readonly port: ConfirmPort,
    options: SenderOptions,
  ) {
    this.slots = new Slots(positive("maxUnconfirmed", options.maxUnconfirmed ?? 1000));
    this.timeoutMs = positive("confirmTimeoutMs", options.confirmTimeoutMs ?? 30_000);
    port.onReturn((message) => this.markReturned(message));
    port.onClose(() => this.failAll());
  }

  /** Messages that the broker has not confirmed yet. */
  get unconfirmed(): number {
    return this.count;
  }

  /** Does something in its turn, when there is a place and the socket takes more. */
  async inTurn<T>(body: () => Promise<T>): Promise<T> {
    await this.slots.take();
    try {
      await this.port.writable();
      return await body();
    } finally {
      this.slots.giveBack();
    }
  }

  /**
   * Sends one message, persistent and mandatory; resolves when the broker has confirmed it.
   * @param properties with a message id, or the header of a copy, by which a return is known
   * @throws MessageRefusedError, MessageReturnedError, MessageNackedError, ChannelClosedError or PublishTimeoutError
   */
  async send(exchange: string, routingKey: string, body: Buffer, properties: MessageProperties): Promise<void> {
    if (this.isClosed) throw new ChannelClosedError(exchange, routingKey);
    const entry: Unconfirmed = { exchange, routingKey, fail: () => undefined };
    const tag = tagOf(properties);
    this.add(tag, entry);
    try {
      await this.confirmation(entry, this.port.publish(exchange, routingKey, body, properties));
    } finally {
      this.remove(tag, entry);
    }
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
        (error: unknown) =>
          settle(error instanceof MessageRefusedError ? error : new ChannelClosedError(exchange, routingKey)),
      );
    });
  }

  private add(tag: string, entry: Unconfirmed): void {
    this.count++;
    const same = this.pending.get(tag);
    if (same === undefined) this.pending.set(tag, [entry]);
    else same.push(entry);
  }

  private remove(tag: string, entry: Unconfirmed): void {
    this.count--;
    const left = (this.pending.get(tag) ?? []).filter((other) => other !== entry);
    if (left.length === 0) this.pending.delete(tag);
    else this.pending.set(tag, left);
  }

  private markReturned(message: ReturnedMessage): void {
    const candidates = this.pending.get(tagOf(message)) ?? [];
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

/** What tells messages on their way apart: a message's own id may be missing, or that of another copy. */
function tagOf({ messageId, headers }: Pick<MessageProperties, "messageId" | "headers">): string {
  const copy = headers?.[copyHeader];
  return typeof copy === "number" ? `copy ${copy}` : (messageId ?? "");
}

function positive(property: string, value: number): number {
  if (!Number.isFinite(value) || value < 1)
    throw new MessageRefusedError(property, `${value} is not allowed; it must be at least 1`);
  return Math.floor(value);
}
