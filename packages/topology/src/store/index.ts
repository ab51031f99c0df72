export {
  DelayedStore,
  DelayedStoreOptions,
  DeliveryType,
  StoreForward,
  delayedStore,
  deliveryExchangesOf,
  intakeExchangesOf,
  parseDelayedStore,
  planDelayedStore,
} from "./delayedStore";
