// Descriptors, keys and queues for services that publish and consume. Nothing here reaches zod, or the plans of stacks.

export { DelayTopologyError } from "./errors";
export { DelayNetwork, DelayNetworkJson } from "./network/delayNetwork";
export { parseDelayNetwork } from "./network/descriptor";
export { EncodedDelay, encodeDelay } from "./network/encode";
export { QueuePlan } from "./entities";
export { openedJson } from "./openedJson";
export { brokerLimits, utf8Length } from "./names";
export { HoldSettingsOptions } from "./options.generated";
export { checkDelayMs, toDelayMs } from "./retry/delays";
export { DelayedRetry, delayedRetryMs } from "./retry/delayedRetry";
export {
  HoldDestination,
  HoldQueues,
  declaredHoldQueue,
  holdSettings,
  parseHoldQueues,
  planHoldQueue,
} from "./retry/holdQueues";
export { RetryDescriptor, declaredDelaysMs, parseRetryDescriptor } from "./retry/retryDescriptor";
export { RetryIntervals, intervalExchange } from "./retry/retryIntervals";
export { WorkRetry, workRetryRoute } from "./retry/workRetry";
