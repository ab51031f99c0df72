import type { BindingPlan, DelayNetwork } from "@rabbitmq-delay/topology";
import { AuditFinding, canEnforce, isDetourPolicy } from "@rabbitmq-delay/topology/stack";
import { VhostOnBroker, claimedEndpoints, networksOn } from "./brokerFindings";

type Found = Pick<VhostOnBroker, "exchanges" | "queues" | "bindings" | "policies">;

/**
 * Finds destinations that NServiceBus's senders have bound to the delivery exchange of a network whose exact matching is enforced, and that
 * are not bound where messages arrive: somebody sends delayed messages to them, and they don't get them.
 */
export function auditEnforced(found: Found): AuditFinding[] {
  return enforcedOn(found).flatMap(({ deliveryExchange, bindingExchange, prefix }) => {
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
export function auditUnclaimed(found: Found, own: readonly string[]): AuditFinding[] {
  const known = new Set([...own, ...claimedEndpoints(found)]);
  return enforcedOn(found).flatMap(({ bindingExchange, prefix }) =>
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

/** Finds networks whose matching a run of `enforce` has begun to change, and whose change has not ended. */
export function auditUnfinished(found: Found): AuditFinding[] {
  return networksOn(found)
    .filter((network) => isChanging(network, found))
    .map(({ preset, prefix }): AuditFinding => ({
      rule: "unfinished-enforce",
      severity: "error",
      subject: `network ${prefix}`,
      message:
        `a run of rabbitmq-delay enforce has begun to change its matching, and not ended: until it has, messages take another way, and ` +
        `what is bound may be incomplete. Let it end, or run rabbitmq-delay enforce --preset ${preset} again, or with --undo`,
    }));
}

/** The networks whose matching is enforced; without those of an unfinished change, whose bindings are still made. */
function enforcedOn(found: Found): DelayNetwork[] {
  return networksOn(found).filter((network) => network.matching === "enforced" && !isChanging(network, found));
}

function isChanging({ preset, entryExchanges }: DelayNetwork, { policies = [] }: Found): boolean {
  const [levelExchange = ""] = entryExchanges;
  return canEnforce(preset) && policies.some(({ name }) => isDetourPolicy(name, levelExchange));
}

function destinationOf({ destination, destinationType }: BindingPlan): string {
  return `${destinationType} ${destination}`;
}
