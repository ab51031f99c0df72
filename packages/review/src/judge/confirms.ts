import { effectiveSetting } from "@rabbitmq-delay/topology/stack";

/** Overflow by which a queue refuses what is published beyond its length. */
const REFUSING = "reject-publish";

/**
 * Whether a queue keeps its dead letters until a queue has confirmed them: one that is quorum, dead-letters at least once, and refuses what is
 * published beyond its length (https://www.rabbitmq.com/docs/quorum-queues#activating-at-least-once-dead-lettering; measured on 3.10.8 and 4.3.6).
 * @param operators definitions of the operator policies that may apply to the queue; their `overflow` counts before all others
 */
export function waitsForConfirm(
  queueArguments: Record<string, unknown>,
  definition: Record<string, unknown> = {},
  operators: readonly Record<string, unknown>[] = [],
): boolean {
  const effective = (key: string): unknown => effectiveSetting(key, queueArguments, definition);
  return (
    queueArguments["x-queue-type"] === "quorum" &&
    effective("dead-letter-strategy") === "at-least-once" &&
    effective("overflow") === REFUSING &&
    operators.every(({ overflow = REFUSING }) => overflow === REFUSING)
  );
}
