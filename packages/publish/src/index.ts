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
export { ConfirmPort, ReturnedMessage, toConfirmPort } from "./confirmPort";
export { ConfirmedSender, SenderOptions } from "./confirmedSender";
export { toBuffer } from "./body";
export { isBrokerHeader, recountHeaders, withoutBrokerHeaders } from "./brokerHeaders";
export { isShortString, shortStringProperties } from "./shortStrings";
export { deepestTable } from "./headerFields";
export { dueHeader, nserviceBusDelayHeader } from "./headers";
export * from "./retry";
export * from "./hold";
