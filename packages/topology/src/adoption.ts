import { DeclaredExchange, DeclaredQueue, compareExchange, compareQueue } from "./differences";
import { BindingPlan, EntityPlan, PolicyPlan, planEntities } from "./entities";
import type { DelayNetwork } from "./network/delayNetwork";
import type { OwnEndpoint } from "./network/clientEndpoint";

/** A part of a stack that others may have declared already, and that comes under the stack as it is. */
export interface AdoptedPart {
  /** What it is called in messages, e.g. `network nsb.v2.delay`. */
  title: string;
  kind: "network" | "endpoint" | "retry";
  /** What whoever declared it has made: where some of it is there, what is missing is a difference. */
  core: EntityPlan;
  /** What the stack makes beside it: parking. */
  added: EntityPlan;
  /** The policies that the stack sets for it. */
  policies: readonly PolicyPlan[];
}

/** What is on the broker, by name. */
export interface AdoptableFound {
  exchanges: ReadonlyMap<string, DeclaredExchange>;
  queues: ReadonlyMap<string, DeclaredQueue>;
  bindings: readonly BindingPlan[];
  /** What the vhost makes of a queue without a type; default: classic. */
  defaultType?: string;
}

/** How a part that is adopted and the broker compare. */
export interface AdoptionComparison {
  /** In words, each with what to change; with one of them nothing may be declared. */
  differences: string[];
  /** How many of the part's own exchanges, queues and bindings are there as planned. */
  there: { exchanges: number; queues: number; bindings: number };
  /** What the stack adds, e.g. `queue nsb.v2.delay-parking`; policies are not compared here. */
  additions: string[];
}

/** A network: what no vendor declares is its parking, and the exchange behind enforced matching. */
export function adoptedNetwork(network: DelayNetwork, policies: readonly PolicyPlan[]): AdoptedPart {
  const { parkingExchange, parkingQueue, bindingExchange, deliveryExchange } = network;
  const isAdded = (name: string): boolean =>
    name === parkingExchange || name === parkingQueue || (name === bindingExchange && name !== deliveryExchange);
  const plan = planEntities(network);
  return { title: `network ${network.prefix}`, kind: "network", ...divide(plan, isAdded), policies };
}

/**
 * An endpoint that the stack declares: its queue, and what its client has with it.
 * @param errors its error queue, which others may have or not
 */
export function adoptedEndpoint(
  { name }: Pick<OwnEndpoint, "name">,
  entities: EntityPlan,
  policies: readonly PolicyPlan[],
  errors: EntityPlan = none(),
): AdoptedPart {
  return { title: `endpoint ${name}`, kind: "endpoint", core: entities, added: errors, policies };
}

/** A work queue with its retry queues and its dead queue. */
export function adoptedWorkQueue(queue: string, entities: EntityPlan, policies: readonly PolicyPlan[]): AdoptedPart {
  return { title: `work queue ${queue}`, kind: "retry", core: entities, added: none(), policies };
}

/**
 * Compares a part that is adopted with what is on the broker. A part of which nothing is there is made anew, and has no difference.
 * @param isOwn whether the stack has an exchange or a queue in its state: what it has lost since is no difference, because a refresh tells
 */
export function compareAdopted(
  part: AdoptedPart,
  found: AdoptableFound,
  isOwn: (kind: "exchange" | "queue", name: string) => boolean = () => false,
): AdoptionComparison {
  const { core, added } = part;
  const bound = new Set(found.bindings.map(keyOf));
  const isThere = { exchange: found.exchanges, queue: found.queues };
  const missing = {
    exchange: core.exchanges.filter(({ name }) => !isThere.exchange.has(name)),
    queue: core.queues.filter(({ name }) => !isThere.queue.has(name)),
  };
  const unbound = core.bindings.filter((binding) => !bound.has(keyOf(binding)));
  const there = {
    exchanges: core.exchanges.length - missing.exchange.length,
    queues: core.queues.length - missing.queue.length,
    bindings: core.bindings.length - unbound.length,
  };
  const additions = describeAdded(added, found);
  if (there.exchanges + there.queues === 0) return { differences: [], there, additions };
  const isKnown = ({ source, destination, destinationType }: BindingPlan): boolean =>
    isThere.exchange.has(source) && isThere[destinationType].has(destination);
  const differences = [
    ...core.exchanges.flatMap((plan) => compareExchange(plan, found.exchanges.get(plan.name))),
    ...core.queues.flatMap((plan) => compareQueue(plan, found.queues.get(plan.name), found.defaultType)),
    ...(["exchange", "queue"] as const).flatMap((kind) =>
      missing[kind].filter(({ name }) => !isOwn(kind, name)).map(({ name }) => `${kind} ${name} is missing`),
    ),
    ...unbound
      .filter(
        (binding) =>
          isKnown(binding) &&
          !(isOwn("exchange", binding.source) && isOwn(binding.destinationType, binding.destination)),
      )
      .map((binding) => `${describeBinding(binding)} is missing`),
  ];
  // Where another verb changes the network first, its last level leads elsewhere until then.
  const isChanged = differences.some((difference) => difference.includes("rabbitmq-delay enforce"));
  if (part.kind === "network" && !isChanged) differences.push(...strangersIn(part, found.bindings));
  return {
    differences: differences.map((difference) => `${difference}${adviceOf(part, difference)}`),
    there,
    additions,
  };
}

/** Bindings of a network's levels that the plan does not have: a message that takes one goes two ways. Endpoints are bound at its end. */
function strangersIn({ core, added }: AdoptedPart, bindings: readonly BindingPlan[]): string[] {
  const all = [...core.bindings, ...added.bindings];
  const planned = new Set(all.map(keyOf));
  const levels = new Set(all.map(({ source }) => source));
  return bindings
    .filter((binding) => levels.has(binding.source) && !planned.has(keyOf(binding)))
    .map((binding) => `${describeBinding(binding)} is there, and not in the plan`);
}

/** What changes in the code where a difference can be the code's; else what to do on the broker. */
function adviceOf({ kind, core }: AdoptedPart, difference: string): string {
  if (difference.includes("rabbitmq-delay enforce")) return "";
  if (difference.endsWith("and not in the plan")) {
    return "; messages would go that way as well: unbind it, or give radix and levels as the broker has them";
  }
  if (difference.endsWith("is missing")) {
    const all = core.queues.length + core.exchanges.length;
    return (
      `, while others of the plan's ${all} exchanges and queues are there: give ${SHAPES[kind]} as the broker has it, or leave adopt ` +
      "out for the one update that shall make what is missing"
    );
  }
  const decides = /\b(x-[a-z-]+) /.exec(difference)?.[1];
  const option = decides === undefined ? undefined : OPTIONS[kind](decides);
  return option === undefined
    ? ": it can't be adopted as it is; drain it and delete it, or plan it otherwise"
    : `: give ${option} as the broker has it`;
}

/** Which options decide what there is of a part. */
const SHAPES = {
  network: "levels, radix or queueType",
  endpoint: "client or routingTopology",
  retry: "delays, rejected or patterns",
};

/** Which option decides an argument of a part's queues, whose names are the broker's own. */
const OPTIONS: Record<AdoptedPart["kind"], (argument: string) => string | undefined> = {
  network: (argument) =>
    ({
      "x-queue-type": "queueType (where the preset has a choice)",
      "x-message-ttl": "unitMs, radix and levels",
      "x-dead-letter-exchange": "levels and matching",
    })[argument],
  endpoint: (argument) =>
    argument === "x-queue-type" ? "queueType" : `${argument} in queueArguments, without a client,`,
  retry: (argument) =>
    ({
      "x-queue-type": "queueType",
      "x-message-ttl": "delays",
      "x-dead-letter-strategy": "atLeastOnce",
      "x-overflow": "atLeastOnce",
      "x-dead-letter-exchange": "rejected",
      "x-dead-letter-routing-key": "rejected",
    })[argument],
};

function describeAdded(added: EntityPlan, found: AdoptableFound): string[] {
  return [
    ...added.exchanges.filter(({ name }) => !found.exchanges.has(name)).map(({ name }) => `exchange ${name}`),
    ...added.queues.filter(({ name }) => !found.queues.has(name)).map(({ name }) => `queue ${name}`),
  ];
}

function describeBinding({ source, destination, destinationType, routingKey }: BindingPlan): string {
  return `the binding of ${destinationType} ${destination} to exchange ${source} by ${JSON.stringify(routingKey)}`;
}

/** A binding whose end is added is added, too. */
function divide(plan: EntityPlan, isAdded: (name: string) => boolean): Pick<AdoptedPart, "core" | "added"> {
  const choose = (wanted: boolean): EntityPlan => ({
    exchanges: plan.exchanges.filter(({ name }) => isAdded(name) === wanted),
    queues: plan.queues.filter(({ name }) => isAdded(name) === wanted),
    bindings: plan.bindings.filter(({ source, destination }) => (isAdded(source) || isAdded(destination)) === wanted),
  });
  return { core: choose(false), added: choose(true) };
}

function none(): EntityPlan {
  return { exchanges: [], queues: [], bindings: [] };
}

function keyOf({ source, destination, destinationType, routingKey }: BindingPlan): string {
  return JSON.stringify([source, destinationType, destination, routingKey]);
}
