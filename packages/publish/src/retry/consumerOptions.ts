import { DelayTopologyError } from "@rabbitmq-delay/topology/descriptors";
import { LONGEST_TIMER_MS } from "../timers";
import type { TriedMessage } from "./delivery";
import { CheckedRecoveryOptions, RecoveryOptions, checkCount, checkRecovery } from "./recoveryOptions";

/**
 * What a handler gets: the message as it was first published, and how often it was tried. It is the handler's own: changes to it get
 * neither into the next try nor into a copy.
 */
export interface ReceivedMessage extends TriedMessage {
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
export interface RetryConsumerOptions extends RecoveryOptions {
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
  /** Aborts the handlers' signals and stops; a message whose handler then fails is given back as it was. */
  signal?: AbortSignal;
  /** Called for each failure, e.g. to log or count it; nobody waits for it, and an error that it throws or rejects with is a warning. */
  onFailure?: (event: RetryEvent) => void;
}

/** Options with their defaults. */
export type CheckedOptions = RetryConsumerOptions &
  CheckedRecoveryOptions &
  Required<Pick<RetryConsumerOptions, "prefetch" | "concurrency">>;

/**
 * Fills in the defaults.
 * @throws DelayTopologyError for an option out of range, or a policy that the mechanism's queues don't serve
 */
export function checkOptions(queue: string, handler: RetryHandler, options: RetryConsumerOptions): CheckedOptions {
  const refuse = (property: string, value: unknown, allowed: string): never => {
    throw new DelayTopologyError(property, value, allowed);
  };
  if (typeof handler !== "function") refuse("handler", handler, "it must be a function");
  const checked = checkRecovery(queue, options);
  const { mechanism, handlerTimeoutMs, signal } = options;
  if (signal !== undefined && (typeof signal?.aborted !== "boolean" || typeof signal.addEventListener !== "function"))
    refuse("signal", signal, "it must be an AbortSignal, e.g. controller.signal");
  const isCounted = mechanism?.countedByBroker !== undefined;
  const prefetch = options.prefetch ?? (isCounted ? (options.concurrency ?? 1) : 10);
  const concurrency = options.concurrency ?? prefetch;
  checkCount("prefetch", prefetch, 65_535);
  checkCount("concurrency", concurrency, prefetch);
  if (isCounted && prefetch > concurrency) {
    refuse(
      "prefetch",
      prefetch,
      `with ${mechanism.name} it must be concurrency, ${concurrency}: the broker counts a lost connection as a failure of each message ` +
        "that it has handed out, and would fail messages that were never tried",
    );
  }
  if (handlerTimeoutMs !== undefined) checkCount("handlerTimeoutMs", handlerTimeoutMs, LONGEST_TIMER_MS);
  return { ...checked, prefetch, concurrency };
}
