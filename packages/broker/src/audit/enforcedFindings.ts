import type { BindingPlan } from "@rabbitmq-delay/topology";
import type { AuditFinding } from "@rabbitmq-delay/topology/stack";
import { VhostOnBroker, claimedEndpoints, networksOn } from "./brokerFindings";

/**
 * Finds destinations that NServiceBus's senders have bound to the delivery exchange of a network whose exact matching is enforced, and that
 * are not bound where messages arrive: somebody sends delayed messages to them, and they don't get them.
 */
export function auditEnforced(found: Pick<VhostOnBroker, "exchanges" | "queues" | "bindings">): AuditFinding[] {
  return networksOn(found)
    .filter(({ matching }) => matching === "enforced")
    .flatMap(({ deliveryExchange, bindingExchange, prefix }) => {
      const bound = new Set(found.bindings.filter(({ source }) => source === bindingExchange).map(destinationOf));
      const behind = (binding: BindingPlan): string[] =>
        binding.destinationType === "queue"
          ? []
          : found.bindings.filter(({ source }) => source === binding.destination).map(destinationOf);
      return found.bindings
        .filter(({ source }) => source === deliveryExchange)
        .filter((binding) => ![destinationOf(binding), ...behind(binding)].some((one) => bound.has(one)))
        .map((binding): AuditFinding => ({
          rule: "unbound",
          severity: "error",
          subject: destinationOf(binding),
          message:
            `is bound to ${deliveryExchange} with ${binding.routingKey}, which no message of network ${prefix} passes, because exact matching is ` +
            `enforced; its delayed messages are parked, or without parking stop a quorum level; declare an EndpointDelayBinding for it`,
        }));
    });
}

/**
 * Finds destinations that are bound where messages of an enforced network arrive, and that no stack has: `enforce` binds them beside each
 * stack's state, so that the binding of an endpoint which leaves before its stack knows of it stays.
 * @param own names of the config's endpoints
 */
export function auditUnclaimed(
  found: Pick<VhostOnBroker, "exchanges" | "queues" | "bindings">,
  own: readonly string[],
): AuditFinding[] {
  const known = new Set([...own, ...claimedEndpoints(found)]);
  return networksOn(found)
    .filter(({ matching }) => matching === "enforced")
    .flatMap(({ bindingExchange, prefix }) =>
      found.bindings
        .filter(({ source, destination }) => source === bindingExchange && !known.has(destination))
        .map((binding): AuditFinding => ({
          rule: "unclaimed",
          severity: "warning",
          subject: destinationOf(binding),
          message:
            `is bound to ${bindingExchange} with ${binding.routingKey}, and neither this config nor a service's claim names it; it gets messages ` +
            `of network ${prefix}. Declare an EndpointDelayBinding for it, or unbind it, e.g. where its stack is gone`,
        })),
    );
}

function destinationOf({ destination, destinationType }: BindingPlan): string {
  return `${destinationType} ${destination}`;
}
