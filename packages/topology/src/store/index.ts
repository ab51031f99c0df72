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
export { delayedStoreOf } from "./storeConfig";
