import { DelayNetwork, DelayTopologyError, Endpoint, EndpointPlan, planBinding } from "@rabbitmq-delay/topology";
import { BoundPattern, BoundPatterns, canEnforce, checkEntityName, ownedNames } from "@rabbitmq-delay/topology/stack";
import { Destination, claimOf, destinationsOf, matchingOf, passingOf, patternsOf } from "./destinations";
import { FoundClient, clientOf } from "./endpointClient";
import type { FoundNetwork } from "./foundNetworks";
import type { LiveVhost } from "./liveVhost";
import { keptPolicy } from "./queuePolicies";
import { Unplaced, differs, note } from "./remark";

/** An endpoint of one network. */
export interface FoundEndpoint extends FoundClient {
  name: string;
  /** What the network is bound to. */
  type: "queue" | "exchange";
  /** Undefined where the name alone reaches it. */
  patterns?: string[];
  remarks: Unplaced[];
}

/** The endpoints of a network, and how it matches. */
export interface BoundNetwork extends FoundNetwork {
  endpoints: FoundEndpoint[];
}

/** Finds a network's endpoints by what is bound to it. */
export function findEndpoints(found: FoundNetwork, live: LiveVhost): BoundNetwork {
  const all = destinationsOf(found.network, live);
  const remarks: Unplaced[] = [];
  const lasting = all.filter((destination) => {
    const passing = passingOf(destination, live);
    if (passing !== undefined) remarks.push(passing);
    return passing === undefined;
  });
  const matching = matchingOf(found.network, lasting);
  const network: DelayNetwork = { ...found.network, matching };
  const options = matching === "exact" ? found.options : { ...found.options, matching };
  const endpoints: FoundEndpoint[] = [];
  const bound: BoundPattern[][] = [];
  for (const destination of lasting) {
    const { plan, endpoint, remarks: more } = readDestination(destination, network, live);
    if (endpoint !== undefined && endpoints.at(-1)?.name === endpoint.name) {
      remarks.push(differs(describeBoth(endpoint)));
      continue;
    }
    if (plan !== undefined) bound.push(plan.bound);
    if (endpoint === undefined) remarks.push(...more);
    else endpoints.push({ ...endpoint, remarks: more });
  }
  const mixed = collisionsOf(bound, network);
  return { options, network, endpoints, remarks: [...found.remarks, ...remarks, ...suffixNote(network), ...mixed] };
}

function describeBoth({ name, type }: Pick<FoundEndpoint, "name" | "type">): string {
  return `the network leads to exchange ${name} and to queue ${name}, and an endpoint is one of them; unbind the other; left out as ${type}`;
}

/** Without an endpoint, the remarks say why. */
interface ReadDestination {
  endpoint?: Omit<FoundEndpoint, "remarks">;
  plan?: EndpointPlan;
  remarks: Unplaced[];
}

function readDestination(destination: Destination, network: DelayNetwork, live: LiveVhost): ReadDestination {
  const { name, type } = destination;
  const leaveOut = (error: unknown): ReadDestination => {
    if (!(error instanceof DelayTopologyError)) throw error;
    return {
      remarks: [differs(`${type} ${name} is bound, and can be no endpoint of a stack (${error.message}); left out`)],
    };
  };
  try {
    checkEntityName("name", name);
  } catch (error) {
    return leaveOut(error);
  }
  const declarer = clientOf(name, network.preset, type, live);
  // Workers bind by suffix, whatever the network's other endpoints do.
  const isWorkers = declarer.found.client === "celery";
  const { patterns, others, remarks } = readKeys(destination, isWorkers ? { ...network, matching: "suffix" } : network);
  if (patterns.length === 0) return { remarks: others };
  const client = patterns.join() === name ? declarer : undefined;
  const ends = { name, type, client: client?.found.client };
  const endpoint: Endpoint = patterns.join() === name ? ends : { ...ends, patterns };
  let plan: EndpointPlan;
  try {
    plan = planBinding(network, endpoint);
  } catch (error) {
    return leaveOut(error);
  }
  const kept = client?.found.client === undefined ? undefined : keptPolicy(name, network.preset, live);
  const claim = claimOf(ownedNames(endpoint), live);
  if (claim !== undefined) return { plan, remarks: [claim, ...others] };
  return {
    plan,
    endpoint: {
      name,
      type,
      ...(endpoint.patterns === undefined ? {} : { patterns }),
      ...client?.found,
      ...(kept?.queuePolicy === undefined ? {} : { queuePolicy: kept.queuePolicy }),
    },
    remarks: [...others, ...remarks, ...(client?.remarks ?? []), ...(kept?.remarks ?? [])],
  };
}

/** What reaches a destination, and what has to be said of keys that the stack would not bind. */
function readKeys(
  { name, type, keys, idleKeys }: Destination,
  network: DelayNetwork,
): { patterns: string[]; others: Unplaced[]; remarks: Unplaced[] } {
  const what = `${type} ${name}`;
  const { bindingExchange, deliveryExchange, matching } = network;
  const here = patternsOf(network, keys);
  const idle = patternsOf(network, idleKeys);
  const others = here.others.map((key) =>
    differs(
      `${bindingExchange} also leads to ${what} with the key ${JSON.stringify(key)}, which says no single destination; the config does not ` +
        `have this binding, and it stays until somebody unbinds it`,
    ),
  );
  if (here.patterns.length === 0 && idle.patterns.length > 0) {
    const message =
      `${what} is bound to ${deliveryExchange} alone, where no message arrives since exact matching is enforced; the stack binds ` +
      `it to ${bindingExchange}`;
    return { patterns: idle.patterns, others, remarks: [differs(message)] };
  }
  const [wanted, beside] = matching === "suffix" ? [here.bySuffix, []] : [here.exact, here.bySuffix];
  const missing = here.patterns.filter((pattern) => !wanted.includes(pattern));
  const remarks = missing.map((pattern) =>
    differs(`${what} is bound with #.${pattern} alone; the stack also binds it exactly, by one * for each level`),
  );
  const extra = beside.filter((pattern) => !missing.includes(pattern));
  if (extra.length > 0) remarks.push(describeExtra(what, extra, network));
  return { patterns: here.patterns, others, remarks };
}

/** A vendor's clients bind by suffix whatever is bound already; nobody else should. */
function describeExtra(what: string, patterns: string[], { preset, matching }: DelayNetwork): Unplaced {
  const keys = patterns.map((pattern) => `#.${pattern}`).join(", ");
  const message = `${what} is also bound with ${keys}`;
  if (preset !== "custom" && matching !== "enforced")
    return note(`${message}, as the vendor's clients do; that binding stays theirs`);
  return differs(
    `${message}, which takes messages for other destinations, too; the config does not have that; unbind it`,
  );
}

function suffixNote({ matching, preset }: DelayNetwork): Unplaced[] {
  if (matching !== "suffix" || !canEnforce(preset)) return [];
  const message = `its endpoints are bound as NServiceBus's clients do, by suffix; rabbitmq-delay enforce --preset ${preset} lets it match exactly`;
  return [note(message)];
}

/** Endpoints that the network can't tell apart, so that a stack would refuse them. */
function collisionsOf(bound: readonly BoundPattern[][], { preset, matching }: DelayNetwork): Unplaced[] {
  const known = new BoundPatterns();
  return bound.flatMap((candidates) => {
    try {
      known.add(candidates);
      return [];
    } catch (error) {
      if (!(error instanceof DelayTopologyError)) throw error;
      // What was added before it met the other one is compared as well as what comes after.
      candidates.forEach((candidate) => known.remember(candidate));
      const way =
        canEnforce(preset) && matching !== "enforced"
          ? `; or let the network tell them apart: rabbitmq-delay enforce --preset ${preset}, then matching: enforced`
          : "";
      const message = `a stack refuses endpoint ${String(error.value)} here: ${error.allowed}${way}`;
      return [differs(message)];
    }
  });
}
