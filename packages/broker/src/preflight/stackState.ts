/** A resource that the running stack made before this run. */
export interface OwnResource {
  urn: string;
  type: string;
  outputs: Record<string, unknown>;
}

/**
 * What the running stack has in its state. Things that are on a broker and not in the state belong to somebody else, or are left over from
 * an update that was killed: nothing else tells a program what is its own. The caller of preflight provides it, because only the caller
 * knows its engine.
 */
export interface StackState {
  /** All resources; undefined if the engine does not say. */
  resources(): Promise<OwnResource[] | undefined>;
  /** Names of the resources of a type, in the given vhost if any; undefined if the engine does not say. */
  names(type: string, vhost?: string): Promise<ReadonlySet<string> | undefined>;
  /**
   * Whether everything in the state may be on the broker at an address: a name that the state has elsewhere belongs to somebody else there.
   * The state does not say which provider declared what, so every provider counts; a provider that does not say where it declares is
   * ignored.
   */
  isOf(managementUrl: string): Promise<boolean>;
}
