export { ErrorMatcher, RetryPolicy } from "./policy";
export {
  DelayNetworkRetryOptions,
  Redelivery,
  RedeliveryStep,
  RepublishStep,
  RetryMechanism,
  throughDeclared,
  throughDelayedExchange,
  throughHoldsOnDemand,
  WayBack,
} from "./mechanism";
export { ReceivedMessage, RetryConsumerOptions, RetryEvent, RetryHandler } from "./consumerOptions";
export { RetryConsumer, consumeWithRetries } from "./consume";
export {
  MalformedCopyError,
  originalHeader,
  originalRoutingKeyHeader,
  redeliveriesHeader,
  retryQueueHeader,
  triesHeader,
  userIdHeader,
} from "./envelope";
export { OriginalMessage } from "./delivery";
export { HandlerTimeoutError, PolicyError } from "./failure";
