import {
  BindingPlan,
  DelayNetwork,
  EntityPlan,
  PolicyPlan,
  RetryDescriptor,
  parkingPolicy,
  planBinding,
  planEntities,
  planRetry,
  planReturnBinding,
} from "rabbitmq-delay-topology";

/** All that a broker must hold, to be drawn or printed. */
export interface RenderedPlan extends EntityPlan {
  endpointBindings: BindingPlan[];
  policies: PolicyPlan[];
}

/** A delay network's plan. */
export interface NetworkPlan extends RenderedPlan {
  network: DelayNetwork;
}

/** The plan of what a stack declares for retries. */
export interface RetriesPlan extends RenderedPlan {
  retries: RetryDescriptor[];
}

/** The plan of a network with endpoints' queues. */
export function networkPlan(network: DelayNetwork, endpoints: string[]): NetworkPlan {
  const policy = parkingPolicy(network);
  return {
    network,
    ...planEntities(network),
    endpointBindings: endpoints.flatMap((name) => planBinding(network, { name }).bindings),
    policies: policy === undefined ? [] : [policy],
  };
}

/** The plan of retry queues; endpoints' queues get their messages back from interval queues. */
export function retriesPlan(retries: RetryDescriptor[], endpoints: string[]): RetriesPlan {
  const plans = retries.map(planRetry);
  return {
    retries,
    exchanges: plans.flatMap(({ exchanges }) => exchanges),
    queues: plans.flatMap(({ queues }) => queues),
    bindings: plans.flatMap(({ bindings }) => bindings),
    endpointBindings: retries.flatMap((descriptor) =>
      descriptor.kind === "retry-intervals" ? endpoints.map((name) => planReturnBinding(descriptor, name)) : [],
    ),
    policies: plans.flatMap(({ policy }) => (policy === undefined ? [] : [policy])),
  };
}
