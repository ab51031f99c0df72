import { DelayTopologyError, brokerLimits } from "@rabbitmq-delay/topology/descriptors";
import { checkLease } from "../hold/lease";
import { isShortString } from "../shortStrings";
import { LONGEST_TIMER_MS } from "../timers";
import type { RetryMechanism } from "./mechanism";
import type { RetryPolicy } from "./policy";

/** Destinations of a queue's failed messages. */
export interface RecoveryOptions {
  /** Rule for which failures are tried again, and when. */
  policy: RetryPolicy;
  /** Way by which failed messages come back; needed when the policy has delays. */
  mechanism?: RetryMechanism;
  /** The queue for messages that used up their tries, which has to exist. Default: the mechanism's, or the queue's name and `_error`. */
  errorQueue?: string;
  /**
   * The exchange by which messages get to the error queue, with its name as routing key. Default: the mechanism's, or the default
   * exchange, which a user with few rights may not write to.
   */
  errorExchange?: string;
  /**
   * Longest wait for the confirm of a copy, and before that for its turn, in milliseconds; also the longest time for the checks at start.
   * Default 30000.
   */
  confirmTimeoutMs?: number;
}

/** Options with their defaults. */
export type CheckedRecoveryOptions = RecoveryOptions &
  Required<Pick<RecoveryOptions, "errorQueue" | "errorExchange" | "confirmTimeoutMs">>;

/**
 * Fills in the defaults. No compiler may have checked the kinds of the arguments: each message would fail at a policy that can't be asked; and
 * for a queue without a name, the broker takes the channel's last one.
 * @throws DelayTopologyError for an option out of range, or a policy that the mechanism's queues don't serve
 */
export function checkRecovery<T extends RecoveryOptions>(queue: string, options: T): T & CheckedRecoveryOptions {
  checkQueueName("queue", queue);
  if (typeof options !== "object" || (options as unknown) === null) {
    throw new DelayTopologyError("options", options, "it must be an object with a policy");
  }
  const { policy, mechanism, confirmTimeoutMs = 30_000 } = options;
  if (typeof policy?.retries !== "function" || !Array.isArray(policy.delaysMs)) {
    throw new DelayTopologyError("policy", policy, "it must be a RetryPolicy, e.g. RetryPolicy.immediate(2)");
  }
  if (mechanism !== undefined && typeof mechanism?.plan !== "function") {
    const allowed = "it must be a way to come back, e.g. throughDeclared(descriptor)";
    throw new DelayTopologyError("mechanism", mechanism, allowed);
  }
  const errorQueue = options.errorQueue ?? mechanism?.errorQueue ?? `${queue}_error`;
  const ownExchange = options.errorQueue === undefined ? mechanism?.errorExchange : undefined;
  const errorExchange = options.errorExchange ?? ownExchange ?? "";
  checkQueueName("errorQueue", errorQueue);
  if (errorQueue === queue) {
    throw new DelayTopologyError("errorQueue", errorQueue, "it must be another queue than the one that is consumed");
  }
  checkCount("confirmTimeoutMs", confirmTimeoutMs, LONGEST_TIMER_MS);
  checkPolicy(queue, policy, mechanism, confirmTimeoutMs);
  return { ...options, errorQueue, errorExchange, confirmTimeoutMs };
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

/** @throws DelayTopologyError for anything but a whole number of that range */
export function checkCount(property: string, value: number, maximum: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= maximum) return;
  throw new DelayTopologyError(property, value, `it must be a whole number from 1 to ${maximum}`);
}
