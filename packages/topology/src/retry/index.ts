export { checkDelayMs, toDelayMs } from "./delays";
export {
  RetryIntervals,
  intervalExchange,
  intervalName,
  parseRetryIntervals,
  planRetryIntervals,
  planReturnBinding,
  retryIntervals,
} from "./retryIntervals";
export { Rejection, WorkRetry, parseWorkRetry, planWorkRetry, workRetry, workRetryRoute } from "./workRetry";
export {
  HoldDestination,
  HoldQueues,
  HoldSettings,
  declaredHoldQueue,
  holdQueues,
  holdSettings,
  parseHoldQueues,
  planHoldQueue,
  planHoldQueues,
} from "./holdQueues";
export {
  DelayedRetry,
  DelayedRetrySettings,
  DelayedRetryType,
  delayedRetry,
  delayedRetryMs,
  delayedRetryVersion,
  parseDelayedRetry,
  planDelayedRetry,
} from "./delayedRetry";
export { planErrorQueue, planErrorQueues } from "./errorQueue";
export { RetryDescriptor, declaredDelaysMs, parseRetryDescriptor, planRetry, retryKinds } from "./retryDescriptor";
export { checkErrorQueueNames } from "./rules";
