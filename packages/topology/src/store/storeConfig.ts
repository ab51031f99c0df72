import { DelayedStore, DelayedStoreOptions, delayedStore } from "./delayedStore";

/** An external store as a stack's config has it: as `DelayedStoreOptions`, with the name as `storeName`, and its user and process. */
export type DelayedStoreConfig = Omit<DelayedStoreOptions, "name"> & {
  storeName?: string;
  user?: string;
  /** Whether a user that is on the broker already is taken over. */
  adopt?: boolean;
  /** Its process, which is no part of the broker's side. */
  deployment?: unknown;
};

/**
 * Makes the descriptor of the store that a config declares; an empty object is the same as none.
 * @throws DelayTopologyError for what it refuses
 */
export function delayedStoreOf(config: DelayedStoreConfig | undefined): DelayedStore | undefined {
  if (config === undefined || Object.keys(config).length === 0) return undefined;
  const { storeName, ...shape } = withoutProcess(config);
  return delayedStore(storeName === undefined ? shape : { ...shape, name: storeName });
}

function withoutProcess(config: DelayedStoreConfig): Omit<DelayedStoreConfig, "user" | "deployment" | "adopt"> {
  const shape = { ...config };
  delete shape.user;
  delete shape.deployment;
  delete shape.adopt;
  return shape;
}
