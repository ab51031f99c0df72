import type { BindingPlan } from "@rabbitmq-delay/topology";
import { AdoptableFound, AdoptedPart, compareAdopted } from "@rabbitmq-delay/topology/stack";
import { BrokerCheckError } from "../brokerCheckError";
import { collisionsIn } from "../audit/bindingCollisions";
import { FoundPolicy, missingPolicies } from "./missingPolicies";
import type { StackState } from "./stackState";

/** What was read of the vhost. Bindings are asked for only where something is adopted that the stack does not have yet. */
interface Found extends Omit<AdoptableFound, "bindings"> {
  bindings: () => Promise<BindingPlan[]>;
  policies: readonly FoundPolicy[];
}

/**
 * Compares parts that come under the stack with what others have declared.
 * @returns what is there as planned, and what the stack adds, one line a part; nothing for a part that the stack has already
 * @throws BrokerCheckError with all differences in words, and what to change for each
 */
export async function checkAdopted(
  state: StackState,
  vhost: string,
  parts: readonly AdoptedPart[],
  found: Found,
): Promise<string[]> {
  if (parts.length === 0) return [];
  const [exchanges, queues] = await Promise.all(
    (["exchange:Exchange", "queue:Queue"] as const).map((kind) => state.names(`rabbitmq:index/${kind}`, vhost)),
  );
  const isOwn = (kind: "exchange" | "queue", name: string): boolean =>
    (kind === "exchange" ? exchanges : queues)?.has(name) === true;
  // What a stack has made or adopted before, it may change like all else of its own.
  const isForeign = ({ core }: AdoptedPart): boolean => {
    const all = [
      ...core.exchanges.map(({ name }) => ({ isThere: found.exchanges.has(name), isOwn: isOwn("exchange", name) })),
      ...core.queues.map(({ name }) => ({ isThere: found.queues.has(name), isOwn: isOwn("queue", name) })),
    ];
    return all.some((one) => one.isThere && !one.isOwn) || all.every((one) => !one.isThere && !one.isOwn);
  };
  const adopted = parts.filter(isForeign);
  if (adopted.length === 0) return [];
  const bindings = await found.bindings();
  const compared = adopted.map((part) => ({ part, ...compareAdopted(part, { ...found, bindings }, isOwn) }));
  const differences = compared.flatMap(({ part, differences: all }) => all.map((one) => `${part.title}: ${one}`));
  if (differences.length > 0) {
    const many =
      differences.length === 1 ? "" : `${differences.length} differences keep this stack from adopting what is there. `;
    throw new BrokerCheckError(`adopt: ${many}${differences.join(".\n")}. Nothing was made`);
  }
  const adoptions = compared.map(({ part, there, additions }) => {
    const { exchanges: some, queues: more, bindings: ways } = there;
    const added = [...additions, ...missingPolicies(part.policies, found.policies).map(({ name }) => `policy ${name}`)];
    const what = added.length === 0 ? "nothing is added" : `added: ${added.join(", ")}`;
    return some + more === 0
      ? `${part.title} is made anew: there is nothing of it to adopt`
      : `${part.title} is adopted: ${count(more, "queue")}, ${count(some, "exchange")} and ${count(ways, "binding")} are there as planned; ${what}`;
  });
  return [...adoptions, ...warnOfTakers(adopted, { ...found, bindings })];
}

/** Names bindings at the end of an adopted network that take others' messages; those that vendors' clients make by themselves are known. */
function warnOfTakers(adopted: readonly AdoptedPart[], { exchanges, queues, bindings }: AdoptableFound): string[] {
  const networks = adopted.filter(({ kind }) => kind === "network");
  const ends = new Set(networks.flatMap(({ core }) => core.exchanges.map(({ name }) => name)));
  const content = { exchanges: [...exchanges.values()], queues: [...queues.values()] };
  return collisionsIn({ ...content, bindings: bindings.filter(({ source }) => ends.has(source)) })
    .filter(({ binding }) => binding.routingKey !== `#.${binding.destination}`)
    .map(({ finding }) => `${finding.subject} ${finding.message}`);
}

/**
 * The queues that need no warning that another stack may have them: those of parts that are adopted, unless policies of this project show
 * that a stack has declared them, or they would be deleted with this one.
 */
export function adoptedQueues(
  parts: readonly AdoptedPart[],
  policies: readonly FoundPolicy[],
  isReplaceable: boolean | undefined,
): ReadonlySet<string> {
  const names = new Set(policies.map(({ name }) => name));
  // An endpoint's policy may be its vendor's, and another stack that has it has claimed it.
  // Stacks of this project alone make retry pairs, and networks that are no vendor's.
  const isOthers = ({ kind, preset, policies: own }: AdoptedPart): boolean =>
    kind === "retry" || preset === "custom" || (kind === "network" && own.some(({ name }) => names.has(name)));
  const vendors = parts.filter((part) => isReplaceable !== true && !isOthers(part));
  return new Set(vendors.flatMap(({ core, added }) => [...core.queues, ...added.queues].map(({ name }) => name)));
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
