import { DelayTopologyError, brokerLimits } from "@rabbitmq-delay/topology/descriptors";
import { checkLease } from "../hold/lease";
import { isShortString } from "../shortStrings";
import { LONGEST_TIMER_MS } from "../timers";
import type { OriginalMessage } from "./delivery";
import type { RetryMechanism } from "./mechanism";
import type { RetryPolicy } from "./policy";

/**
 * What a handler gets: the message as it was first published, and how often it was tried. It is the handler's own: changes to it get
 * neither into the next try nor into a copy.
 */
export interface ReceivedMessage extends OriginalMessage {
  /**
   * How often the message was tried before, in all deliveries together; with the broker's own delayed retry, as often as the policy implies
   * for the broker's count.
   */
  previousTries: number;
  /** Aborted when the handler's time is up, or the consumer's signal is. */
  signal: AbortSignal;
}

/** Handles one message; a rejection or a throw is a failure. */
export type RetryHandler = (message: ReceivedMessage) => unknown;

/** What became of a message that failed. */
export type RetryEvent =
  | { kind: "redelivered"; delayMs: number; redeliveries: number; error: unknown }
  | { kind: "failed"; errorQueue: string; tries: number; error: unknown }
  | { kind: "given-back"; error: unknown };

/** How a queue is consumed. */
export interface RetryConsumerOptions {
  /** Which failures are tried again, and when. */
  policy: RetryPolicy;
  /** How failed messages come back; needed when the policy has delays. */
  mechanism?: RetryMechanism;
  /** The queue for messages that used up their tries, which has to exist. Default: the mechanism's, or the queue's name and `_error`. */
  errorQueue?: string;
  /**
   * The exchange by which messages get to the error queue, with its name as routing key. Default: the mechanism's, or the default
   * exchange, which a user with few rights may not write to.
   */
  errorExchange?: string;
  /**
   * How many messages the broker hands out before they are acknowledged. Default 10. With the broker's own delayed retry it is
   * `concurrency` and no more: a lost connection counts as a failure of each message that was handed out, including those that no handler
   * has seen.
   */
  prefetch?: number;
  /** How many handlers may work at once. Default: `prefetch`; with the broker's own delayed retry 1. */
  concurrency?: number;
  /**
   * How long a handler may take, in milliseconds; then its message has failed, and its signal is aborted. A handler that goes on keeps its
   * place among those at work until it ends or the consumer stops, and its message gets no immediate try meanwhile. Default: no limit.
   */
  handlerTimeoutMs?: number;
  /**
   * How long to wait for the confirm of a copy, and before that for its turn, in milliseconds; also how long the consumer may take to
   * start. Default 30000.
   */
  confirmTimeoutMs?: number;
  /** Aborts the handlers' signals and stops; a message whose handler then fails is given back as it was. */
  signal?: AbortSignal;
  /** Called for each failure, e.g. to log or count it; nobody waits for it, and an error that it throws or rejects with is a warning. */
  onFailure?: (event: RetryEvent) => void;
}

/** Options with their defaults. */
export type CheckedOptions = RetryConsumerOptions &
  Required<
    Pick<RetryConsumerOptions, "errorQueue" | "errorExchange" | "prefetch" | "concurrency" | "confirmTimeoutMs">
  >;

/**
 * Fills in the defaults.
 * @throws DelayTopologyError for an option out of range, or a policy that the mechanism's queues don't serve
 */
export function checkOptions(queue: string, handler: RetryHandler, options: RetryConsumerOptions): CheckedOptions {
  checkKinds(queue, handler, options);
  const { policy, mechanism, handlerTimeoutMs, confirmTimeoutMs = 30_000 } = options;
  const isCounted = mechanism?.countedByBroker !== undefined;
  const prefetch = options.prefetch ?? (isCounted ? (options.concurrency ?? 1) : 10);
  const errorQueue = options.errorQueue ?? mechanism?.errorQueue ?? `${queue}_error`;
  const ownExchange = options.errorQueue === undefined ? mechanism?.errorExchange : undefined;
  const errorExchange = options.errorExchange ?? ownExchange ?? "";
  checkQueueName("errorQueue", errorQueue);
  if (errorQueue === queue) {
    throw new DelayTopologyError("errorQueue", errorQueue, "it must be another queue than the one that is consumed");
  }
  const concurrency = options.concurrency ?? prefetch;
  checkCount("prefetch", prefetch, 65_535);
  checkCount("concurrency", concurrency, prefetch);
  if (isCounted && prefetch > concurrency) {
    throw new DelayTopologyError(
      "prefetch",
      prefetch,
      `with ${mechanism.name} it must be concurrency, ${concurrency}: the broker counts a lost connection as a failure of each message ` +
        "that it has handed out, and would fail messages that were never tried",
    );
  }
  if (handlerTimeoutMs !== undefined) checkCount("handlerTimeoutMs", handlerTimeoutMs, LONGEST_TIMER_MS);
  checkCount("confirmTimeoutMs", confirmTimeoutMs, LONGEST_TIMER_MS);
  checkPolicy(queue, policy, mechanism, confirmTimeoutMs);
  return { ...options, errorQueue, errorExchange, prefetch, concurrency, confirmTimeoutMs };
}

/**
 * Checks the kinds of the arguments, which no compiler may have checked. Without this, each message would fail at a handler that is not a
 * function, or at a policy that can't be asked, and end in the error queue; and for a queue without a name, the broker takes the channel's
 * last one.
 */
function checkKinds(queue: unknown, handler: unknown, options: Partial<RetryConsumerOptions> | undefined | null): void {
  checkQueueName("queue", queue);
  const refuse = (property: string, value: unknown, allowed: string): never => {
    throw new DelayTopologyError(property, value, allowed);
  };
  if (typeof handler !== "function") refuse("handler", handler, "it must be a function");
  if (typeof options !== "object" || options === null) {
    throw new DelayTopologyError("options", options, "it must be an object with a policy");
  }
  const { policy, mechanism, signal } = options;
  if (typeof policy?.retries !== "function" || !Array.isArray(policy.delaysMs)) {
    refuse("policy", policy, "it must be a RetryPolicy, e.g. RetryPolicy.immediate(2)");
  }
  if (mechanism !== undefined && typeof mechanism?.plan !== "function") {
    refuse("mechanism", mechanism, "it must be a way to come back, e.g. throughDeclared(descriptor)");
  }
  if (signal !== undefined && (typeof signal?.aborted !== "boolean" || typeof signal.addEventListener !== "function")) {
    refuse("signal", signal, "it must be an AbortSignal, e.g. controller.signal");
  }
}

function checkQueueName(property: string, name: unknown): void {
  if (isShortString(name) && name !== "") return;
  throw new DelayTopologyError(
    property,
    name,
    `it must be a queue's name, of 1 to ${brokerLimits.shortStringBytes} bytes`,
  );
}

/** Plans each redelivery once, so that a delay without a declared queue shows before the first message. */
function checkPolicy(
  queue: string,
  { delaysMs }: RetryPolicy,
  mechanism: RetryMechanism | undefined,
  confirmTimeoutMs: number,
): void {
  if (delaysMs.length > 0 && mechanism === undefined) {
    throw new DelayTopologyError(
      "mechanism",
      mechanism,
      "the policy has delays, so it must say how messages come back",
    );
  }
  const most = mechanism?.maximumRedeliveries ?? Number.POSITIVE_INFINITY;
  if (delaysMs.length > most) {
    const allowed = `${mechanism?.name} were declared for at most ${most} redeliveries`;
    throw new DelayTopologyError("policy", `${delaysMs.length} redeliveries`, allowed);
  }
  delaysMs.forEach((delayMs, index) => {
    const step = mechanism?.plan({ queue, routingKey: queue, delayMs, redelivery: index + 1 });
    if (step?.kind === "republish" && step.declare !== undefined) checkLease(step.declare, confirmTimeoutMs);
  });
}

function checkCount(property: string, value: number, maximum: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= maximum) return;
  throw new DelayTopologyError(property, value, `it must be a whole number from 1 to ${maximum}`);
}
