import type { BindingPlan, EntityPlan } from "../entities";

/** Names that whoever declares a plan needs a right to, in the broker's three kinds. */
export interface DeclareRights {
  configure: string[];
  write: string[];
  read: string[];
}

/** What is declared: exchanges may have an alternate exchange among their arguments. */
export interface DeclaredEntities {
  exchanges: { name: string; arguments?: Record<string, unknown> }[];
  queues: Pick<EntityPlan["queues"][number], "name" | "arguments">[];
  bindings: Pick<BindingPlan, "source" | "destination">[];
}

/**
 * What a user must be allowed to who declares these. Source: RabbitMQ's access control guide: a declare configures; one with a
 * dead-letter or alternate exchange also reads its own and writes there; a binding writes to its destination and reads its source.
 */
export function planDeclareRights({ exchanges, queues, bindings }: DeclaredEntities): DeclareRights {
  const led = [
    ...exchanges.map((exchange) => [exchange.name, exchange.arguments?.["alternate-exchange"]] as const),
    ...queues.map((queue) => [queue.name, queue.arguments["x-dead-letter-exchange"]] as const),
  ].filter(([, target]) => target !== undefined);
  return {
    configure: unique([...exchanges, ...queues].map(({ name }) => name)),
    write: unique([
      ...bindings.map(({ destination }) => destination),
      // The default exchange's name in permissions.
      ...led.map(([, target]) => (target === "" ? "amq.default" : String(target))),
    ]),
    read: unique([...bindings.map(({ source }) => source), ...led.map(([name]) => name)]),
  };
}

function unique(names: string[]): string[] {
  return [...new Set(names)];
}
