import * as topology from "@rabbitmq-delay/topology";
import type { PolicyPlan, QueuePlan } from "@rabbitmq-delay/topology";
import type { BrokerLine } from "../plan/types";
import type { Entities } from "./entities";

/**
 * Whether what the gauntlet declares itself on RabbitMQ 4 gets policies that lift the delivery limit, as a service that declares its own
 * queues has to see to; `--no-lifted-limits` leaves them out. What components declare is left as it is: they lift it themselves.
 */
export const limits = { areLifted: true };

type Planner = (queues: QueuePlan[], options: { brokerVersion?: string }) => PolicyPlan[];

/** The topology package's own plan of such policies, where it has one. */
const planned = (topology as { deliveryLimitPolicies?: Planner }).deliveryLimitPolicies;

/** The same, with no limit on quorum queues; those that count on purpose keep theirs. */
export function withoutLimits(entities: Entities, broker: BrokerLine): Entities {
  if (!limits.areLifted || broker === "3.10") return entities;
  const counted = entities.queues.filter(({ arguments: values }) => isCounted(values)) as QueuePlan[];
  const policies = planned === undefined ? counted.map(unlimited) : planned(counted, { brokerVersion: "4.3.0" });
  return { ...entities, policies: [...entities.policies, ...policies] };
}

function isCounted(values: Record<string, unknown>): boolean {
  return values["x-queue-type"] === "quorum" && values["x-delivery-limit"] === undefined;
}

function unlimited({ name }: QueuePlan): PolicyPlan {
  return {
    name: `${name}.delivery-limit`,
    pattern: `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`,
    applyTo: "quorum_queues",
    priority: 0,
    definition: { "delivery-limit": -1 },
  };
}
