import { effectiveSetting } from "@rabbitmq-delay/topology/stack";

/**
 * Whether a queue keeps its dead letters until a queue has confirmed them: one that is quorum, dead-letters at least once, and refuses what is
 * published beyond its length (https://www.rabbitmq.com/docs/quorum-queues#activating-at-least-once-dead-lettering; measured on 3.10.8 and 4.3.6).
 */
export function waitsForConfirm(
  queueArguments: Record<string, unknown>,
  definition: Record<string, unknown> = {},
): boolean {
  const effective = (key: string): unknown => effectiveSetting(key, queueArguments, definition);
  return (
    queueArguments["x-queue-type"] === "quorum" &&
    effective("dead-letter-strategy") === "at-least-once" &&
    effective("overflow") === "reject-publish"
  );
}
