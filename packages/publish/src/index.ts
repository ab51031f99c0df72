// For services: delayed publishing, retries and holds, over a channel that the caller owns. Other processes that publish take more from ./parts.

// Delayed publishing.
export { DelayPublisher, createDelayPublisher } from "./publisher";
export { DelayPublisherOptions, DelayedMessageOptions, MessageProperties, PublishReceipt } from "./options";
export {
  ChannelClosedError,
  DelayPublishError,
  MessageNackedError,
  MessageRefusedError,
  MessageReturnedError,
  PublishTimeoutError,
} from "./errors";
export { AmqplibConfirmChannel, AmqplibConsumerChannel, PublishChannel, RabbitmqClientChannel } from "./channels";
export { dueHeader, nserviceBusDelayHeader } from "./headers";

// Consuming with retries, and holding.
export * from "./retry";
export * from "./hold";
