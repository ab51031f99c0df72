export { checkDelayMs, toDelayMs } from "./delays";
export {
  RetryIntervals,
  RetryIntervalsOptions,
  intervalExchange,
  intervalName,
  parseRetryIntervals,
  planRetryIntervals,
  planReturnBinding,
  retryIntervals,
} from "./retryIntervals";
export {
  Rejection,
  WorkRetry,
  WorkRetryOptions,
  parseWorkRetry,
  planWorkRetry,
  workRetry,
  workRetryRoute,
} from "./workRetry";
export {
  HoldDestination,
  HoldQueues,
  HoldQueuesOptions,
  HoldSettings,
  HoldSettingsOptions,
  declaredHoldQueue,
  holdQueues,
  holdSettings,
  parseHoldQueues,
  planHoldQueue,
  planHoldQueues,
} from "./holdQueues";
export {
  DelayedRetry,
  DelayedRetryOptions,
  DelayedRetrySettings,
  DelayedRetryType,
  delayedRetry,
  delayedRetryMs,
  delayedRetryVersion,
  parseDelayedRetry,
  planDelayedRetry,
} from "./delayedRetry";
export { ErrorQueuesOptions, checkErrorQueueNames, planErrorQueue, planErrorQueues } from "./errorQueue";
export { RetryDescriptor, declaredDelaysMs, parseRetryDescriptor, planRetry, retryKinds } from "./retryDescriptor";
