import type { EntityPlan, PolicyPlan } from "../entities";
import { DelayTopologyError } from "../errors";
import { openedJson } from "../openedJson";
import { DelayedRetry, delayedRetryMs, parseDelayedRetry, planDelayedRetry } from "./delayedRetry";
import { HoldQueues, parseHoldQueues, planHoldQueues } from "./holdQueues";
import { RetryIntervals, parseRetryIntervals, planRetryIntervals } from "./retryIntervals";
import { WorkRetry, parseWorkRetry, planWorkRetry } from "./workRetry";

/** What a stack declared for retries. */
export type RetryDescriptor = RetryIntervals | WorkRetry | HoldQueues | DelayedRetry;

/** Kinds of {@link RetryDescriptor}, by which a stack's outputs are searched. */
export const retryKinds = ["retry-intervals", "work-retry", "hold-queues", "delayed-retry"] as const;

/**
 * Reads a descriptor of any of these kinds.
 * @param value the descriptor, or its JSON text
 * @throws DelayTopologyError for another kind, or a part that is missing or malformed
 */
export function parseRetryDescriptor(value: unknown, property = "descriptor"): RetryDescriptor {
  const opened = openedJson(value);
  if (typeof opened === "string" || Array.isArray(opened)) {
    const allowed = `it must be a descriptor (an object with a kind: ${retryKinds.join(", ")}), or its JSON text`;
    throw new DelayTopologyError(property, value, allowed);
  }
  const kind = (opened as { kind?: unknown } | null | undefined)?.kind;
  switch (kind) {
    case "retry-intervals":
      return parseRetryIntervals(opened, property);
    case "work-retry":
      return parseWorkRetry(opened, property);
    case "hold-queues":
      return parseHoldQueues(opened, property);
    case "delayed-retry":
      return parseDelayedRetry(opened, property);
    default:
      throw new DelayTopologyError(`${property}.kind`, kind, `it must be one of ${retryKinds.join(", ")}`);
  }
}

/** Plans what a descriptor of any of these kinds needs on the broker. */
export function planRetry(descriptor: RetryDescriptor): EntityPlan & { policy?: PolicyPlan } {
  switch (descriptor.kind) {
    case "retry-intervals":
      return planRetryIntervals(descriptor);
    case "work-retry":
      return planWorkRetry(descriptor);
    case "hold-queues":
      return { exchanges: [], queues: planHoldQueues(descriptor), bindings: [] };
    case "delayed-retry":
      return planDelayedRetry(descriptor);
  }
}

/**
 * The delays that a descriptor's own retries have, one for each redelivery, in milliseconds: each interval or hold once, as
 * many of a work queue as `maxRetries` says (the longest again and again), those of a delayed retry up to `deliveryLimit`.
 */
export function declaredDelaysMs(descriptor: RetryDescriptor): number[] {
  switch (descriptor.kind) {
    case "retry-intervals":
      return descriptor.intervalsMs;
    case "hold-queues":
      return descriptor.delaysMs;
    case "work-retry": {
      const { delaysMs, maxRetries } = descriptor;
      return times(maxRetries, (index) => delaysMs[Math.min(index, delaysMs.length - 1)] as number);
    }
    case "delayed-retry":
      return times(descriptor.deliveryLimit, (index) => delayedRetryMs(descriptor, index + 1));
  }
}

function times(count: number, delayOf: (index: number) => number): number[] {
  return Array.from({ length: count }, (_, index) => delayOf(index));
}
