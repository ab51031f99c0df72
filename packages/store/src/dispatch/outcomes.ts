import {
  MessageNackedError,
  MessageRefusedError,
  MessageReturnedError,
  PublishTimeoutError,
} from "@rabbitmq-delay/publish";
import type { NewDelayedMessage } from "../delayedMessage";

/** What became of a message: without an `error`, the broker has it. */
export interface Outcome<T extends NewDelayedMessage> {
  message: T;
  error?: Error;
  /** Whether the broker may nevertheless have it. */
  isInDoubt?: boolean;
  /** Whether its destination did not answer; then the message is not at fault, and is tried later. */
  isSilent?: boolean;
  /** A trial that goes on, where its destination was silent before: resolves when the broker has it, and rejects when it does not answer in time. */
  trial?: Promise<void>;
}

/** What has become of a batch so far, and how often each message was sent: an answer belongs to the last time, and says nothing about earlier ones. */
export class Outcomes<T extends NewDelayedMessage> {
  /** Whether the broker has answered for at least one of them. */
  isAnswered = false;
  private readonly settled = new Map<T, Outcome<T>>();
  private readonly times = new Map<T, number>();

  get all(): Outcome<T>[] {
    return [...this.settled.values()];
  }

  /** Those whose destination did not answer. */
  get silent(): Outcome<T>[] {
    return this.all.filter(({ isSilent }) => isSilent === true);
  }

  /** Those that have an answer, or need none. */
  get certain(): Outcome<T>[] {
    return this.all.filter(({ isSilent }) => isSilent !== true);
  }

  /** Notes that a message is sent, once more. */
  sending(message: T): void {
    this.times.set(message, (this.times.get(message) ?? 0) + 1);
  }

  /** Those of the messages that were sent, and have no answer. */
  inDoubt(messages: readonly T[]): T[] {
    return messages.filter((message) => {
      const outcome = this.settled.get(message);
      const isSent = this.times.has(message) || outcome?.trial !== undefined;
      return isSent && (outcome === undefined || outcome.isSilent === true);
    });
  }

  /** Settles a message: the broker has answered for it, or it was not sent. */
  settle(message: T, error?: Error): void {
    if (this.times.has(message)) this.isAnswered = true;
    this.settled.set(message, { message, error, ...(this.mayHave(message, error) ? { isInDoubt: true } : {}) });
  }

  /** Settles a message whose destination did not answer for now, or has its trial going on. */
  settleSilent(message: T, error: Error, trial?: Promise<void>): void {
    // A trial may be sent at any time.
    const doubt = this.times.has(message) || trial !== undefined ? { isInDoubt: true } : {};
    this.settled.set(message, { message, error, ...doubt, isSilent: true, ...(trial === undefined ? {} : { trial }) });
  }

  /** Why the broker did not take a message, as far as that is known. */
  errorOf(message: T): Error | undefined {
    return this.settled.get(message)?.error;
  }

  /** Whether the broker may have a message whose last answer was this error. One queue may have a message that another one refused. */
  private mayHave(message: T, error: Error | undefined): boolean {
    if (error === undefined) return false;
    const isRefusal = error instanceof MessageRefusedError || error instanceof MessageReturnedError;
    const isSure = isRefusal || typeof (error as { code?: unknown }).code === "number";
    return (this.times.get(message) ?? 0) > (isSure ? 1 : 0);
  }
}

/** Whether the broker has a message. */
export function isTaken(outcome: Outcome<NewDelayedMessage> | undefined): boolean {
  return outcome !== undefined && outcome.error === undefined;
}

/** Outcomes by their messages. */
export function byMessage<T extends NewDelayedMessage>(outcomes: readonly Outcome<T>[]): Map<T, Outcome<T>> {
  return new Map(outcomes.map((one) => [one.message, one]));
}

/** A message was not sent, because its destination has not answered for another one yet. */
export class SilentDestinationError extends Error {
  override readonly name = "SilentDestinationError";

  constructor({ exchange, routingKey }: NewDelayedMessage) {
    const where = exchange === "" ? `queue ${routingKey}` : `${routingKey} of exchange ${exchange}`;
    super(`${where} has not answered for an earlier message yet`);
  }
}

/** A message was sent to a destination that was silent before, and has had no answer so far. */
export class OpenTrialError extends Error {
  override readonly name = "OpenTrialError";

  constructor({ exchange, routingKey }: NewDelayedMessage) {
    super(`${exchange === "" ? `queue ${routingKey}` : `${routingKey} of exchange ${exchange}`} has not answered yet`);
  }
}

/** Whether an error is about the message alone. */
export function isOfMessage(error: unknown): error is Error {
  return [MessageRefusedError, MessageReturnedError, MessageNackedError].some((kind) => error instanceof kind);
}

/** Whether the broker was given a message and did not answer in time. */
export function isUnanswered(error: unknown): error is PublishTimeoutError {
  return error instanceof PublishTimeoutError && error.wasSent;
}
