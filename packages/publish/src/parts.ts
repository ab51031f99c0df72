// What other processes share that publish or consume as this package does, e.g. a store: it is no service's own interface.

// Channels of both libraries as one.
export { ConfirmPort, ReturnedMessage, toConfirmPort } from "./confirmPort";
export { ConfirmedSender, SenderOptions } from "./confirmedSender";
export { ConsumePort, OpenDelivery, toConsumePort } from "./retry/consumePort";
export { Delivery, DeliveryProperties } from "./retry/delivery";

// What a message may carry, and what it must not carry on.
export { delayHeaders } from "./headers";
export { toBuffer } from "./body";
export { isBrokerHeader, recountHeaders, withoutBrokerHeaders } from "./brokerHeaders";
export { errorHeaders, failureHeaders } from "./retry/failure";
export { amqplibBytes, deepestTable, isTable } from "./headerFields";
export { isShortString, shortStringProperties } from "./shortStrings";

// Addresses of brokers.
export { ConnectionFailure, connectionFailure, vhostMismatch, vhostOf } from "./brokerAddress";
export { explainOpening } from "./openRefusal";
