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
} from "@rabbitmq-delay/topology";
import { DeliveryLimitOptions, deliveryLimitPolicies, networkLimitPolicies } from "@rabbitmq-delay/topology/stack";

/** Everything that a broker must have, to be drawn or printed. */
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

/**
 * The plan of a network with endpoints' queues.
 * @param limits what is known of the broker, for the policies that lift its delivery limits; if omitted, none of those
 */
export function networkPlan(network: DelayNetwork, endpoints: string[], limits?: DeliveryLimitOptions): NetworkPlan {
  const parking = parkingPolicy(network);
  return {
    network,
    ...planEntities(network),
    endpointBindings: endpoints.flatMap((name) => planBinding(network, { name }).bindings),
    policies: [
      ...(parking === undefined ? [] : [parking]),
      ...(limits === undefined ? [] : networkLimitPolicies(network, limits)),
    ],
  };
}

/** The plan of retry queues; endpoints' queues get their messages back from interval queues. */
export function retriesPlan(
  retries: RetryDescriptor[],
  endpoints: string[],
  limits?: DeliveryLimitOptions,
): RetriesPlan {
  const plans = retries.map(planRetry);
  const queues = plans.flatMap((plan) => plan.queues);
  const own = plans.flatMap(({ policy }) => (policy === undefined ? [] : [policy]));
  return {
    retries,
    exchanges: plans.flatMap(({ exchanges }) => exchanges),
    queues,
    bindings: plans.flatMap(({ bindings }) => bindings),
    endpointBindings: retries.flatMap((descriptor) =>
      descriptor.kind === "retry-intervals" ? endpoints.map((name) => planReturnBinding(descriptor, name)) : [],
    ),
    policies: [...own, ...(limits === undefined ? [] : deliveryLimitPolicies(queues, limits, own))],
  };
}
