import { EntityPlan, QueuePlan } from "@rabbitmq-delay/topology";
import { DeclaredExchange, DeclaredQueue, compareExchange, compareQueue } from "@rabbitmq-delay/topology/stack";
import type { StackState } from "./stackState";
import { BrokerCheckError } from "../brokerCheckError";
import { argumentsOf, queuesInState } from "./matchingChange";

const FOR_OTHERS =
  "Drain and delete it, or choose another name or prefix here; a network may take another shape instead";
const FOR_ENDPOINT =
  "Leave out createQueue or client to bind the queue as it is; or give its queueType and, in a program, queueArguments as the broker has them; or choose " +
  "another name for the endpoint; or drain and delete the queue";

/** How many differences an error names. */
const MOST_NAMED = 3;

type Planned = Pick<EntityPlan, "exchanges" | "queues">;
interface Found {
  exchanges: ReadonlyMap<string, DeclaredExchange>;
  queues: ReadonlyMap<string, DeclaredQueue>;
  /** The type that the vhost gives a queue without a type; default: classic. */
  defaultType?: string;
}

function differencesOf(plan: QueuePlan, { queues, defaultType }: Found): string[] {
  return compareQueue(plan, queues.get(plan.name), defaultType);
}

/**
 * Whether everything that differs is in this stack's state: the engine replaces nothing else, and somebody else's would be refused
 * half-way. If the engine does not say, the answer is yes.
 */
export async function areDifferencesOwn(
  state: StackState,
  vhost: string,
  { exchanges, queues }: Planned,
  found: Found,
): Promise<boolean> {
  const kinds = [
    ["exchange:Exchange", exchanges.filter((plan) => compareExchange(plan, found.exchanges.get(plan.name)).length > 0)],
    ["queue:Queue", queues.filter((plan) => differencesOf(plan, found).length > 0)],
  ] as const;
  for (const [kind, differing] of kinds) {
    if (differing.length === 0) continue;
    const own = await state.names(`rabbitmq:index/${kind}`, vhost);
    if (own !== undefined && differing.some(({ name }) => !own.has(name))) return false;
  }
  return true;
}

/**
 * Names of queues that somebody declared anew: the broker has them otherwise than planned, but the state has them as planned, and the engine
 * goes by that. A queue without a type can't be told, and is left out.
 */
export async function redeclaredQueues(
  state: StackState,
  vhost: string,
  queues: readonly QueuePlan[],
  found: Found,
): Promise<ReadonlySet<string>> {
  const differing = queues.filter((plan) => differencesOf(plan, found).length > 0);
  if (differing.length === 0) return new Set();
  const inState = queuesInState((await state.resources()) ?? [], vhost);
  const isAsPlanned = ({ name, arguments: wanted }: QueuePlan): boolean => {
    const known = argumentsOf(inState.get(name));
    return inState.has(name) && Object.entries(wanted).every(([key, value]) => String(known[key]) === String(value));
  };
  return new Set(differing.filter(isAsPlanned).map(({ name }) => name));
}

/**
 * Compares planned entities with those that exist under the same names.
 * @param redeclared queues of which the engine does not know that they differ
 * @param endpoints names of what is declared for endpoints
 * @param isReplaced whether the engine replaces an entity that differs, because this stack declared it
 * @returns warnings, one line each, about entities that are going to be replaced
 * @throws BrokerCheckError for an entity that can't be declared as planned
 */
export function checkDifferences(
  { exchanges, queues }: Planned,
  found: Found,
  isReplaced: boolean,
  redeclared: ReadonlySet<string> = new Set(),
  endpoints: readonly string[] = [],
): string[] {
  const compared = [
    ...exchanges.map((plan) => [plan.name, compareExchange(plan, found.exchanges.get(plan.name))] as const),
    ...queues.map((plan) => [plan.name, differencesOf(plan, found)] as const),
  ].filter(([, differences]) => differences.length > 0);
  const differences = compared.flatMap(([, one]) => one);
  // The engine does not look at the arguments of a queue without a type, see Declarer.queue.
  const untyped = queues.filter(({ arguments: values }) => !("x-queue-type" in values));
  const isIgnored = untyped.some((plan) => differencesOf(plan, found).length > 0);
  if (differences.length > 0 && (isIgnored || !isReplaced)) {
    const more = differences.length > MOST_NAMED ? `; and ${differences.length - MOST_NAMED} more` : "";
    const ways = new Set(compared.map(([name]) => (endpoints.includes(name) ? FOR_ENDPOINT : FOR_OTHERS)));
    throw new BrokerCheckError(
      `${differences.slice(0, MOST_NAMED).join("; ")}${more}: an entity can't change its arguments. ${[...ways].join(". ")}`,
    );
  }
  const unseen = queues.filter(({ name }) => redeclared.has(name)).flatMap((plan) => differencesOf(plan, found));
  return differences.map((difference) =>
    unseen.includes(difference)
      ? `${difference}: somebody declared it anew, and this stack's state does not know; it stays so, and its messages come early or late, until ` +
        "pulumi up --refresh replaces it, with the messages in it"
      : `${difference}: it will be replaced, with the messages in it`,
  );
}
