export { ErrorMatcher, RetryPolicy } from "./policy";
export {
  RedeliveryRoute,
  RetryMechanism,
  throughDelayNetwork,
  throughDelayedExchange,
  throughRetryIntervals,
} from "./mechanism";
export {
  ReceivedMessage,
  RetryConsumer,
  RetryConsumerOptions,
  RetryEvent,
  RetryHandler,
  consumeWithRetries,
} from "./consume";
export {
  MalformedCopyError,
  OriginalMessage,
  originalHeader,
  originalRoutingKeyHeader,
  redeliveriesHeader,
} from "./envelope";
export { Delivery, DeliveryProperties } from "./delivery";
export { HandlerTimeoutError, errorHeaders } from "./failure";
