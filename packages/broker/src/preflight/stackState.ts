/** A resource that the running stack made before this run. */
export interface OwnResource {
  urn: string;
  type: string;
  outputs: Record<string, unknown>;
}

/**
 * What the running stack has in its state. What is on a broker and not in the state is somebody else's, or left over from an update
 * that was killed: nothing else tells a program what is its own. Whoever runs the preflight gives it, since only that one knows its engine.
 */
export interface StackState {
  /** All resources; undefined where the engine does not say. */
  resources(): Promise<OwnResource[] | undefined>;
  /** Names of the resources of a type, in a vhost where one is given; undefined where the engine does not say. */
  names(type: string, vhost?: string): Promise<ReadonlySet<string> | undefined>;
  /**
   * Whether all that the state has may be on the broker at an address: a name that the state has elsewhere is somebody else's there. The
   * state does not say which provider declared what, so every provider counts; one that does not say where it declares is no objection.
   */
  isOf(managementUrl: string): Promise<boolean>;
}
