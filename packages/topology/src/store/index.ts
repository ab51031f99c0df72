export {
  DelayedStore,
  DelayedStoreOptions,
  DeliveryType,
  StoreForward,
  delayedStore,
  deliveryExchangesOf,
  deliveryTypes,
  intakeExchangesOf,
  parseDelayedStore,
  planDelayedStore,
  planStoreAccess,
} from "./delayedStore";
export { DelayedStoreConfig, delayedStoreOf } from "./storeConfig";
