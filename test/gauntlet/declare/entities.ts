import type { PolicyPlan } from "@rabbitmq-delay/topology";
import type { Broker } from "../broker";

/** What a vhost gets, in the words of the broker's definitions. */
export interface Entities {
  exchanges: { name: string; type: string; durable: boolean; arguments: Record<string, unknown> }[];
  queues: { name: string; durable: boolean; arguments: Record<string, unknown> }[];
  bindings: { source: string; destination: string; destinationType: string; routingKey: string }[];
  policies: (Omit<PolicyPlan, "applyTo"> & { applyTo: string })[];
}

/** A plan of the topology package, with or without policies. */
export interface Planned {
  exchanges?: { name: string; type: string }[];
  queues?: { name: string; arguments: Record<string, unknown> }[];
  bindings?: Entities["bindings"];
  policies?: (PolicyPlan | undefined)[];
}

/** Puts plans together. */
export function entitiesOf(...plans: Planned[]): Entities {
  return {
    exchanges: plans.flatMap(({ exchanges = [] }) =>
      exchanges.map(({ name, type }) => ({ name, type, durable: true, arguments: {} })),
    ),
    queues: plans.flatMap(({ queues = [] }) =>
      queues.map(({ name, arguments: values }) => ({ name, durable: true, arguments: values })),
    ),
    bindings: plans.flatMap(({ bindings = [] }) => bindings),
    policies: plans.flatMap(({ policies = [] }) => policies.filter((policy) => policy !== undefined)),
  };
}

/** Both together. */
export function joined(...all: Entities[]): Entities {
  return {
    exchanges: all.flatMap(({ exchanges }) => exchanges),
    queues: all.flatMap(({ queues }) => queues),
    bindings: all.flatMap(({ bindings }) => bindings),
    policies: all.flatMap(({ policies }) => policies),
  };
}

/** A binding as definitions have it. */
export function bindingDefinition({ source, destination, destinationType, routingKey }: Entities["bindings"][number]): {
  [key: string]: unknown;
} {
  return { source, destination, destination_type: destinationType, routing_key: routingKey, arguments: {} };
}

/** Declares all of it by one import of definitions. */
export async function declare(broker: Broker, vhost: string, entities: Entities): Promise<void> {
  const { exchanges, queues, bindings, policies } = entities;
  await broker.api.call("POST", `definitions/${vhost}`, {
    exchanges: exchanges.map((exchange) => ({ ...exchange, auto_delete: false, internal: false })),
    queues: queues.map((queue) => ({ ...queue, auto_delete: false })),
    bindings: bindings.map(bindingDefinition),
    policies: policies.map(({ applyTo, ...policy }) => ({ ...policy, "apply-to": applyTo })),
  });
}
