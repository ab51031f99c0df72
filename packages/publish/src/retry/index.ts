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
export { OriginalMessage, TriedMessage } from "./delivery";
export { AmqplibMessage, ClientMessage, RabbitmqClientMessage } from "./clientMessage";
export { MessageRecoverer, Recovery, createMessageRecoverer } from "./recoverer";
export { RecoveryOptions } from "./recoveryOptions";
export { HandlerTimeoutError, PolicyError } from "./failure";
