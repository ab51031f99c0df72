import { DelayTopologyError } from "../errors";
import { DelayedRetryOptions, delayedRetry } from "./delayedRetry";
import { HoldQueuesOptions, holdQueues } from "./holdQueues";
import { RetryDescriptor, retryKinds } from "./retryDescriptor";
import { RetryIntervalsOptions, retryIntervals } from "./retryIntervals";
import { WorkRetryOptions, workRetry } from "./workRetry";

/** A work queue as a stack's config has it: as `WorkRetryOptions`, with the name as `queue`. */
export type WorkQueueConfig = Omit<WorkRetryOptions, "name"> & { queue: string };

/** What a stack's config says of retries; an empty object is the same as none. */
export interface RetryConfig {
  retryIntervals?: RetryIntervalsOptions | Record<string, never>;
  workQueues?: WorkQueueConfig[];
  holdQueues?: HoldQueuesOptions | Record<string, never>;
  delayedRetryQueues?: DelayedRetryOptions[];
}

/**
 * Makes the descriptors of all that a config declares.
 * @throws DelayTopologyError for what one of them refuses
 */
export function retryDescriptors(config: RetryConfig): RetryDescriptor[] {
  const { retryIntervals: intervals, workQueues = [], holdQueues: holds, delayedRetryQueues = [] } = config;
  return [
    ...(isSet(intervals) ? [retryIntervals(intervals)] : []),
    ...workQueues.map(({ queue, ...shape }) => workRetry({ ...shape, name: queue })),
    ...(isSet(holds) ? [holdQueues(holds)] : []),
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

function isSet<T extends object>(options: T | Record<string, never> | undefined): options is T {
  return options !== undefined && Object.keys(options).length > 0;
}
