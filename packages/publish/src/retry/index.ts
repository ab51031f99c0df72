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
export { Delivery, DeliveryProperties, OriginalMessage } from "./delivery";
export { HandlerTimeoutError, PolicyError, errorHeaders, failureHeaders } from "./failure";
export { ConsumePort, OpenDelivery, toConsumePort } from "./consumePort";
