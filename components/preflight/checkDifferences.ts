import {
  DeclaredExchange,
  DeclaredQueue,
  EntityPlan,
  QueuePlan,
  compareExchange,
  compareQueue,
} from "rabbitmq-delay-topology";
import { BrokerCheckError } from "./brokerCheckError";

/** How many differences an error names. */
const MOST_NAMED = 3;

/**
 * Compares what is planned with what is there under the same names.
 * @param isReplaced whether the engine replaces what differs, because this stack declared it
 * @param defaultType what the vhost makes of a queue without a type; default: classic
 * @returns warnings, a line each: what is going to be replaced
 * @throws BrokerCheckError for an entity that can't be declared as planned
 */
export function checkDifferences(
  { exchanges, queues }: Pick<EntityPlan, "exchanges" | "queues">,
  found: { exchanges: ReadonlyMap<string, DeclaredExchange>; queues: ReadonlyMap<string, DeclaredQueue> },
  isReplaced: boolean,
  defaultType?: string,
): string[] {
  const compared = (plan: QueuePlan): string[] => compareQueue(plan, found.queues.get(plan.name), defaultType);
  const differences = [
    ...exchanges.flatMap((plan) => compareExchange(plan, found.exchanges.get(plan.name))),
    ...queues.flatMap(compared),
  ];
  // The engine does not look at the arguments of a queue without a type, see Declarer.queue.
  const untyped = queues.filter(({ arguments: values }) => !("x-queue-type" in values));
  const isIgnored = untyped.some((plan) => compared(plan).length > 0);
  if (differences.length > 0 && (isIgnored || !isReplaced)) {
    const more = differences.length > MOST_NAMED ? `; and ${differences.length - MOST_NAMED} more` : "";
    throw new BrokerCheckError(
      `${differences.slice(0, MOST_NAMED).join("; ")}${more}: ` +
        `an entity can't change its arguments. Drain and delete it, or give the network another prefix or shape`,
    );
  }
  return differences.map((difference) => `${difference}: it will be replaced, with the messages in it`);
}
