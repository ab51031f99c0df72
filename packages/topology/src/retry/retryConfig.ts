import { DelayTopologyError } from "../errors";
import type {
  DelayedRetryOptions,
  HoldQueuesOptions,
  RetryIntervalsOptions,
  StackConfig,
  WorkRetryOptions,
} from "../options.generated";
import { delayedRetry } from "./delayedRetry";
import { holdQueues } from "./holdQueues";
import { RetryDescriptor, retryKinds } from "./retryDescriptor";
import { retryIntervals } from "./retryIntervals";
import { workRetry } from "./workRetry";

/** What a stack's config says of retries. */
export type RetryConfig = Pick<StackConfig, "retryIntervals" | "workQueues" | "holdQueues" | "delayedRetryQueues">;

/**
 * Makes the descriptors of all that a config declares.
 * @throws DelayTopologyError for what one of them refuses
 */
export function retryDescriptors(config: RetryConfig): RetryDescriptor[] {
  const { retryIntervals: intervals, workQueues = [], holdQueues: holds, delayedRetryQueues = [] } = config;
  return [
    ...(intervals === undefined ? [] : [retryIntervals(intervals)]),
    ...workQueues.map(({ adopt: _, ...shape }) => workRetry(shape)),
    ...(holds === undefined ? [] : [holdQueues(holds)]),
    ...delayedRetryQueues.map((shape) => delayedRetry(shape)),
  ];
}

/**
 * Makes a descriptor from the options of its kind, as somebody writes them by hand.
 * @throws DelayTopologyError for another kind, or what that kind refuses
 */
export function retryDescriptorOf(kind: unknown, options: object, property = "kind"): RetryDescriptor {
  switch (kind) {
    case "retry-intervals":
      return retryIntervals(options as RetryIntervalsOptions);
    case "work-retry":
      return workRetry(options as WorkRetryOptions);
    case "hold-queues":
      return holdQueues(options as HoldQueuesOptions);
    case "delayed-retry":
      return delayedRetry(options as DelayedRetryOptions);
    default:
      throw new DelayTopologyError(property, kind, `it must be one of ${retryKinds.join(", ")}`);
  }
}
