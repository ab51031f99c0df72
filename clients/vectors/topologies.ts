import {
  DelayNetwork,
  EntityPlan,
  PolicyPlan,
  RetryIntervals,
  delayNetwork,
  parkingPolicy,
  planEntities,
  planRetryIntervals,
  retryIntervals,
} from "@rabbitmq-delay/topology";

/** A descriptor, and what the broker must hold for it, as its management API takes it (`POST /api/definitions`). */
export interface DeclaredTopology {
  descriptor: DelayNetwork | RetryIntervals;
  definitions: object;
}

/** Stands for the vhost of a test, which puts its own in its place. */
const VHOST = "cd-vhost";

/** Short delays, so that tests need not wait. */
export function topologies(): Record<string, DeclaredTopology> {
  const shape = { preset: "custom", radix: 16, levels: 3, unitMs: 100, vhost: VHOST } as const;
  return {
    parked: ofNetwork(delayNetwork({ ...shape, prefix: "parked" })),
    bare: ofNetwork(delayNetwork({ ...shape, prefix: "bare", radix: 2, parking: false })),
    nservicebus: ofNetwork(delayNetwork({ preset: "nservicebus-v1", vhost: VHOST })),
    intervals: ofIntervals(retryIntervals({ intervals: [300, 1200], parking: false })),
  };
}

function ofNetwork(descriptor: DelayNetwork): DeclaredTopology {
  return { descriptor, definitions: definitions(planEntities(descriptor), parkingPolicy(descriptor)) };
}

function ofIntervals(descriptor: RetryIntervals): DeclaredTopology {
  const plan = planRetryIntervals(descriptor);
  return { descriptor, definitions: definitions(plan, plan.policy) };
}

function definitions({ exchanges, queues, bindings }: EntityPlan, policy: PolicyPlan | undefined): object {
  const vhost = VHOST;
  return {
    exchanges: exchanges.map((exchange) => ({
      ...exchange,
      vhost,
      auto_delete: false,
      internal: false,
      arguments: {},
    })),
    queues: queues.map((queue) => ({ ...queue, vhost, auto_delete: false })),
    bindings: bindings.map(({ source, destination, destinationType, routingKey }) => ({
      source,
      vhost,
      destination,
      destination_type: destinationType,
      routing_key: routingKey,
      arguments: {},
    })),
    policies: policy === undefined ? [] : [policyOf(policy)],
  };
}

function policyOf({ applyTo, ...policy }: PolicyPlan): object {
  return { vhost: VHOST, ...policy, "apply-to": applyTo };
}
