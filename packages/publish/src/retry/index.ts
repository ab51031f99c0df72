export { ErrorMatcher, RetryPolicy } from "./policy";
export {
  Redelivery,
  RedeliveryStep,
  RepublishStep,
  RetryMechanism,
  throughDeclared,
  throughDelayNetwork,
  throughDelayedExchange,
  throughDelayedRetry,
  throughHoldQueues,
  throughHoldsOnDemand,
  throughRetryIntervals,
  throughWorkRetry,
} from "./mechanism";
export { ReceivedMessage, RetryConsumerOptions, RetryEvent, RetryHandler } from "./consumerOptions";
export { RetryConsumer, consumeWithRetries } from "./consume";
export {
  MalformedCopyError,
  originalHeader,
  originalRoutingKeyHeader,
  recountHeaders,
  redeliveriesHeader,
} from "./envelope";
export { Delivery, DeliveryProperties, OriginalMessage } from "./delivery";
export { HandlerTimeoutError, errorHeaders, failureHeaders } from "./failure";
export { ConsumePort, OpenDelivery, toConsumePort } from "./consumePort";
