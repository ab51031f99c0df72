import { FoundBinding, ManagementApi, asPlans } from "@rabbitmq-delay/broker";
import type { BindingPlan } from "@rabbitmq-delay/topology";
import type { DeclaredExchange, DeclaredQueue, FoundPolicy } from "@rabbitmq-delay/topology/stack";

/** What a vhost has, as far as a change of a network's matching has to know it. */
export interface LiveMatching {
  /** By their names, and so the queues. */
  exchanges: ReadonlyMap<string, DeclaredExchange>;
  queues: ReadonlyMap<string, DeclaredQueue & { exclusive?: boolean }>;
  bindings: readonly BindingPlan[];
  policies: readonly Pick<FoundPolicy, "name" | "pattern" | "applyTo" | "priority" | "definition">[];
}

/** Reads it from the broker. @throws ManagementApiError if the broker does not say */
export async function readLiveMatching(api: ManagementApi, vhost: string): Promise<LiveMatching> {
  const at = encodeURIComponent(vhost);
  const [exchanges, queues, bindings, policies] = await Promise.all([
    api.get<DeclaredExchange[]>(`exchanges/${at}?columns=name,type,durable,auto_delete,internal,arguments`),
    api.get<DeclaredQueue[]>(`queues/${at}?columns=name,durable,auto_delete,exclusive,arguments`),
    api.get<FoundBinding[]>(`bindings/${at}?columns=source,destination,destination_type,routing_key`),
    api.get<(Omit<LiveMatching["policies"][number], "applyTo"> & { "apply-to": string })[]>(`policies/${at}`),
  ]);
  return {
    exchanges: new Map(exchanges.map((exchange) => [exchange.name, exchange])),
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    bindings: asPlans(bindings),
    policies: policies.map(({ "apply-to": applyTo, ...policy }) => ({ ...policy, applyTo })),
  };
}
