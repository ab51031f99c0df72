import { DelayTopologyError, checkOneOf } from "./errors";
import { QueueType, queueTypes } from "./network/delayNetwork";

/** What kind of queues messages wait in. */
export interface QueueKind {
  queueType: QueueType;
  /** Whether a message leaves a queue only when the next one has confirmed it. */
  atLeastOnce: boolean;
}

/**
 * Checks a kind of queue; at-least-once is the default where the type can.
 * @param at names a property for messages
 * @throws DelayTopologyError for another type, or at-least-once with classic queues
 */
export function checkQueueKind(
  given: { queueType: unknown; atLeastOnce?: unknown },
  at: (name: string) => string,
): QueueKind {
  const queueType = checkOneOf(at("queueType"), given.queueType, queueTypes);
  const atLeastOnce = given.atLeastOnce ?? queueType === "quorum";
  if (typeof atLeastOnce !== "boolean") {
    throw new DelayTopologyError(at("atLeastOnce"), atLeastOnce, "it must be true or false");
  }
  if (atLeastOnce && queueType === "classic") {
    throw new DelayTopologyError(at("atLeastOnce"), atLeastOnce, "classic queues can't; leave it out or take quorum");
  }
  return { queueType, atLeastOnce };
}

/** Where a message goes that leaves a queue other than by an acknowledgement. */
export interface DeadLetterTarget {
  exchange: string;
  /** Default: the key that the message has. */
  routingKey?: string;
}

/** Arguments that send on what a queue gives up. At-least-once needs quorum, reject-publish and a target together; source: RabbitMQ's quorum queue guide. */
export function deadLetterArguments(atLeastOnce: boolean, target: DeadLetterTarget): Record<string, string> {
  return {
    ...(atLeastOnce ? { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" } : {}),
    "x-dead-letter-exchange": target.exchange,
    ...(target.routingKey === undefined ? {} : { "x-dead-letter-routing-key": target.routingKey }),
  };
}

/** Arguments of a queue in which messages wait, and then go on. */
export function waitingArguments(
  { queueType, atLeastOnce }: QueueKind,
  ttlMs: number,
  target: DeadLetterTarget,
): Record<string, string | number> {
  return { "x-queue-type": queueType, "x-message-ttl": ttlMs, ...deadLetterArguments(atLeastOnce, target) };
}

/**
 * How long messages wait in a queue until they go on, in milliseconds. Whatever tells of delays asks this: a TTL alone is no delay, because
 * what leaves a queue without a dead-letter exchange is dropped.
 * @returns undefined for a queue that does not delay
 */
export function waitMsOf(queueArguments: Record<string, unknown>): number | undefined {
  const ttlMs = queueArguments["x-message-ttl"];
  return typeof ttlMs === "number" && "x-dead-letter-exchange" in queueArguments ? ttlMs : undefined;
}
