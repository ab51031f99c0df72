import type { Adoption, LiveContent } from "@rabbitmq-delay/operate";
import {
  BindingPlan,
  DelayNetwork,
  EntityPlan,
  PolicyPlan,
  parkingPolicy,
  planEntities,
} from "@rabbitmq-delay/topology";
import { StackPlan, planEndpoints, planStack, readStackConfig } from "@rabbitmq-delay/topology/stack";

/** What a broker shows once plans are declared. */
export function contentOf(...plans: (EntityPlan & { policy?: PolicyPlan })[]): LiveContent {
  const policies = plans.flatMap(({ policy }) => (policy === undefined ? [] : [policy]));
  const once = <T extends { name: string }>(all: T[]): T[] => [...new Map(all.map((one) => [one.name, one])).values()];
  return {
    version: "4.3.6",
    exchanges: once(plans.flatMap(({ exchanges }) => exchanges)).map(({ name, type }) => ({
      name,
      type: type as string,
      durable: true,
      auto_delete: false,
      internal: false,
      arguments: {},
      policy: policies.find(({ pattern, applyTo }) => applyTo === "exchanges" && new RegExp(pattern, "u").test(name))
        ?.name,
    })),
    queues: once(plans.flatMap(({ queues }) => queues)).map(({ name, arguments: values }) => ({
      name,
      durable: true,
      auto_delete: false,
      exclusive: false,
      arguments: { ...values },
    })),
    bindings: plans.flatMap(({ bindings }) => bindings),
    policies: policies.map((policy) => ({ ...policy, isOperator: false })),
  };
}

/** A network as a stack declares it. */
export function networkPlan(network: DelayNetwork): EntityPlan & { policy?: PolicyPlan } {
  return { ...planEntities(network), policy: parkingPolicy(network) };
}

/** A queue of a service. */
export function queuePlan(name: string, queueType = "quorum", bindings: BindingPlan[] = []): EntityPlan {
  return { exchanges: [], queues: [{ name, durable: true, arguments: { "x-queue-type": queueType } }], bindings };
}

/** The plan of the stack that an adoption's config makes, with its endpoints' bindings. */
export function planOf({ config, vhost }: Adoption): { plan: StackPlan; entities: EntityPlan } {
  const read = readStackConfig({ ...config });
  const plan = planStack(read, vhost);
  const parts = [...plan.parts, ...plan.created].map(({ entities }) => entities);
  return {
    plan,
    entities: {
      exchanges: parts.flatMap(({ exchanges }) => exchanges),
      queues: parts.flatMap(({ queues }) => queues),
      bindings: [
        ...parts.flatMap(({ bindings }) => bindings),
        ...planEndpoints(plan, read).flatMap(({ bindings }) => bindings),
      ],
    },
  };
}

/** The names and arguments of entities, in an order of their own. */
export function sorted({
  exchanges,
  queues,
  bindings,
}: Pick<LiveContent, "exchanges" | "queues" | "bindings"> | EntityPlan): string[] {
  return [
    ...exchanges.map(({ name, type }) => JSON.stringify(["exchange", name, type])),
    ...queues.map(({ name, arguments: values }) => JSON.stringify(["queue", name, Object.entries(values).sort()])),
    ...bindings.map((one) => JSON.stringify([one.source, one.destinationType, one.destination, one.routingKey])),
  ].sort();
}
