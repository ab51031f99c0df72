import type { StackConfig } from "../stackConfig";
import { DelayedStore, delayedStore } from "./delayedStore";

/**
 * Makes the descriptor of the store that a stack's config declares.
 * @throws DelayTopologyError for what it refuses
 */
export function delayedStoreOf(config: StackConfig["delayedStore"]): DelayedStore | undefined {
  if (config === undefined) return undefined;
  const { storeName: name, forwards, toQueues, exchanges } = config;
  return delayedStore({ name, forwards, toQueues, exchanges });
}
