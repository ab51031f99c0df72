import type { PolicyPlan } from "@rabbitmq-delay/topology";
import type { RenderedPlan } from "./plan";

/** The plan as the broker's own definitions, for `rabbitmqctl import_definitions` or POST /api/definitions. */
export function renderDefinitions(plan: RenderedPlan, vhost: string): object {
  const endpointQueues = plan.endpointBindings.map(({ destination }) => ({
    name: destination,
    durable: true,
    arguments: { "x-queue-type": "quorum" },
  }));
  return {
    exchanges: plan.exchanges.map(({ name, type, durable }) => ({
      name,
      vhost,
      type,
      durable,
      auto_delete: false,
      internal: false,
      arguments: {},
    })),
    queues: [...plan.queues, ...endpointQueues].map((queue) => ({ ...queue, vhost, auto_delete: false })),
    bindings: [...plan.bindings, ...plan.endpointBindings].map(
      ({ source, destination, destinationType, routingKey }) => ({
        source,
        vhost,
        destination,
        destination_type: destinationType,
        routing_key: routingKey,
        arguments: {},
      }),
    ),
    policies: plan.policies.map((policy) => policyOf(policy, vhost)),
  };
}

function policyOf(policy: PolicyPlan, vhost: string): object {
  const { name, pattern, applyTo, priority, definition } = policy;
  return { vhost, name, pattern, "apply-to": applyTo, priority, definition };
}
