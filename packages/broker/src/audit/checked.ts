import type {
  DelayGateway,
  DelayNetwork,
  DelayedExchange,
  DelayedStore,
  Endpoint,
  EntityPlan,
  RetryDescriptor,
} from "@rabbitmq-delay/topology";

/** The topology to check: what a stack's config or a network declares, or nothing, to check a vhost as it is. */
export interface Checked {
  /** Networks, each with the endpoints that join it. */
  networks: {
    network: DelayNetwork;
    endpoints: Endpoint[];
    /** Whether the stack takes over what is there, and adds what is its own. */
    isAdopted?: boolean;
  }[];
  /** `retries` says whether an endpoint's queue gets messages back from the interval queues. */
  endpoints: (Endpoint & { retries?: boolean })[];
  /** What the stack declares for its endpoints: their queues, and the exchanges and bindings that a vendor's client has in front of them. */
  created?: readonly {
    endpoint: string;
    entities: EntityPlan;
    preset: DelayNetwork["preset"] | undefined;
    queuePolicy?: Record<string, unknown>;
    isAdopted?: boolean;
  }[];
  retries: RetryDescriptor[];
  /** Exchanges that delay by the header `x-delay`. */
  exchanges?: readonly DelayedExchange[];
  /** The broker's side of an external store. */
  store?: DelayedStore;
  /** The broker's side of a gateway; its return queue is among the endpoints of all networks, too. */
  gateway?: DelayGateway;
  /** Names of the error queues that the stack declares for all services. */
  errorQueues?: readonly string[];
  /** Accepted risks: the broker's own faults by their names, and pairs of endpoints that a vendor's clients mix up. */
  allow?: string[];
}
