import type { QueueType } from "../network";

/** Where a message goes when its time in a queue is over. */
export interface WaitingTarget {
  exchange: string;
  /** Default: the key that the message has. */
  routingKey?: string;
}

/**
 * Arguments of a queue in which messages wait, and then go on. A classic queue has no type among them: vendors' clients
 * don't give one, and a difference would show as a change, which deletes the queue. At-least-once needs quorum, reject-publish and a dead-letter
 * exchange together; source: RabbitMQ's quorum queue guide.
 */
export function waitingArguments(
  queueType: QueueType,
  atLeastOnce: boolean,
  ttlMs: number,
  target: WaitingTarget,
): Record<string, string | number> {
  return {
    ...(queueType === "classic" ? {} : { "x-queue-type": queueType }),
    ...(atLeastOnce ? { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" } : {}),
    "x-message-ttl": ttlMs,
    "x-dead-letter-exchange": target.exchange,
    ...(target.routingKey === undefined ? {} : { "x-dead-letter-routing-key": target.routingKey }),
  };
}
