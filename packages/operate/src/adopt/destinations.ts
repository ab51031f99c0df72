import { BindingPlan, DelayNetwork, Matching, bindingKey, planEntities } from "@rabbitmq-delay/topology";
import { planOwnership } from "@rabbitmq-delay/topology/stack";
import { patternOf } from "../enforce/endpointBindings";
import type { LiveVhost } from "./liveVhost";
import { Unplaced, leftOut } from "./remark";

/** What a network leads to, with all keys by which it does. */
export interface Destination {
  name: string;
  type: "queue" | "exchange";
  /** Where the network's messages arrive. */
  keys: string[];
  /** At the delivery exchange of a network that enforces exact matching, which no message reaches. */
  idleKeys: string[];
}

/** What a network leads to, in the order of names; where a queue and an exchange have one name, the exchange first. */
export function destinationsOf(network: DelayNetwork, live: LiveVhost): Destination[] {
  const { bindingExchange, deliveryExchange } = network;
  const found = new Map<string, Destination>();
  const gather = ({ destination: name, destinationType: type, routingKey }: BindingPlan, isIdle: boolean): void => {
    const known = found.get(`${type} ${name}`) ?? { name, type, keys: [], idleKeys: [] };
    known[isIdle ? "idleKeys" : "keys"].push(routingKey);
    found.set(`${type} ${name}`, known);
  };
  live.from(bindingExchange).forEach((binding) => gather(binding, false));
  if (deliveryExchange !== bindingExchange) live.from(deliveryExchange).forEach((binding) => gather(binding, true));
  // What leads back into the network is told of with the network.
  const { exchanges, queues } = planEntities(network);
  const own = new Set([...exchanges, ...queues].map((entity) => entity.name));
  const orderOf = ({ name, type }: Destination): string => JSON.stringify([name, type]);
  return [...found.values()]
    .filter(({ name }) => !own.has(name))
    .sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
}

/** How the endpoints of a network are bound: as it is there, and exactly where both ways are mixed. */
export function matchingOf(network: DelayNetwork, destinations: readonly Destination[]): Matching {
  if (network.matching === "enforced") return "enforced";
  const keys = destinations.flatMap((one) => one.keys).filter((key) => patternOf(key, network.levels) !== undefined);
  return keys.length > 0 && keys.every((key) => key.startsWith("#.")) ? "suffix" : "exact";
}

/** The destinations that reach an endpoint, and the keys that say none. */
export function patternsOf(
  { levels }: DelayNetwork,
  keys: readonly string[],
): { patterns: string[]; others: string[]; bySuffix: string[]; exact: string[] } {
  const read = keys.map((key) => ({ key, pattern: patternOf(key, levels) }));
  const patterns = read.map(({ pattern }) => pattern).filter((pattern) => pattern !== undefined);
  const isBound = (matching: Matching, pattern: string): boolean =>
    keys.includes(bindingKey({ matching, levels }, pattern));
  const each = [...new Set(patterns)].sort();
  return {
    patterns: each,
    others: read.filter(({ pattern }) => pattern === undefined).map(({ key }) => key),
    bySuffix: each.filter((pattern) => isBound("suffix", pattern)),
    exact: each.filter((pattern) => isBound("exact", pattern)),
  };
}

/** Why a destination is no endpoint of a stack; undefined if it may be one. */
export function passingOf({ name, type }: Destination, live: LiveVhost): Unplaced | undefined {
  const what = `${type} ${name}`;
  const found = (type === "queue" ? live.queues : live.exchanges).get(name);
  if (found === undefined) return leftOut(`${what} went away while the vhost was read; run this again`);
  if (found.auto_delete || ("exclusive" in found && found.exclusive === true)) {
    return leftOut(`${what} goes with its connection (${found.auto_delete ? "auto-delete" : "exclusive"})`);
  }
  if (!found.durable) return leftOut(`${what} goes when the broker stops (not durable)`);
  if (/^amq\./.test(name)) return leftOut(`${what} has a name of the broker's own, as generated ones have`);
  return undefined;
}

/** Says that another stack owns a name. */
export function claimOf(names: readonly string[], live: LiveVhost): Unplaced | undefined {
  const claim = names.map((name) => live.exchanges.get(claimName(name))).find((exchange) => exchange !== undefined);
  if (claim === undefined) return undefined;
  const owner = claim.arguments["alternate-exchange"];
  return leftOut(
    `endpoint ${names[0]} is claimed by the stack ${typeof owner === "string" ? owner : "of another owner"}; if that one is no more, ` +
      `delete exchange ${claim.name}, and run this again`,
  );
}

/** A name that is too long to be claimed has no claim. */
function claimName(name: string): string {
  try {
    return planOwnership("endpoint", name, "nobody").name;
  } catch {
    return "";
  }
}
