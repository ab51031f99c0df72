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
  planStoreAccess,
} from "./delayedStore";
export { DelayedStoreConfig, delayedStoreOf } from "./storeConfig";
