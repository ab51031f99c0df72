import { DelayedStore, DelayedStoreOptions, delayedStore } from "./delayedStore";

/** An external store as a stack's config has it: as `DelayedStoreOptions`, with the name as `storeName`, and its user. */
export type DelayedStoreConfig = Omit<DelayedStoreOptions, "name"> & { storeName?: string; user?: string };

/**
 * Makes the descriptor of the store that a config declares; an empty object is the same as none.
 * @throws DelayTopologyError for what it refuses
 */
export function delayedStoreOf(config: DelayedStoreConfig | undefined): DelayedStore | undefined {
  if (config === undefined || Object.keys(config).length === 0) return undefined;
  const { storeName, user, ...shape } = config;
  void user;
  return delayedStore(storeName === undefined ? shape : { ...shape, name: storeName });
}
