export { DelayGateway, DelayGatewayOptions, delayGateway, parseDelayGateway, planDelayGateway } from "./delayGateway";
export { DelayedStore, delayedStore, parseDelayedStore, planDelayedStore } from "./delayedStore";
export { DeliveryType, MessageIntake, StoreForward, deliveryExchangesOf, intakeExchangesOf } from "./intake";
