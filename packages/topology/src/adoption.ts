import { DeclaredExchange, DeclaredQueue, compareExchange, compareQueue, compareUntyped } from "./differences";
import { BindingPlan, EntityPlan, PolicyPlan, bindingIdentity, planEntities } from "./entities";
import type { DelayNetwork, Preset } from "./network/delayNetwork";
import { shortcutsOf } from "./network/shortcuts";
import type { OwnEndpoint } from "./network/clientEndpoint";
import type { WorkRetry } from "./retry/workRetry";

/** A part of a stack that others may have declared already, and that comes under the stack as it is. */
export interface AdoptedPart {
  /** What it is called in messages, e.g. `network nsb.v2.delay`. */
  title: string;
  kind: "network" | "endpoint" | "retry";
  /** Of a network. */
  preset?: Preset;
  /**
   * What whoever declared it has made. Where some of a network or a retry pair is there, what is missing is a difference; what an endpoint
   * lacks is made.
   */
  core: EntityPlan;
  /** Exchanges of a retry pair that lead nowhere else, because what is bound there as well would get each retried message again. */
  closed?: readonly string[];
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
  const { preset, prefix } = network;
  return { title: `network ${prefix}`, kind: "network", preset, ...divide(plan, isAdded), policies };
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
export function adoptedWorkQueue(
  { name: queue, deadQueue }: Pick<WorkRetry, "name" | "deadQueue">,
  entities: EntityPlan,
  policies: readonly PolicyPlan[],
): AdoptedPart {
  const closed = entities.exchanges.map(({ name }) => name).filter((name) => name !== deadQueue);
  return {
    title: `work queue ${queue}`,
    kind: "retry",
    closed,
    core: entities,
    added: none(),
    policies,
  };
}

/**
 * Compares a part that is adopted with what is on the broker. A part of which nothing is there is made anew, and has no difference.
 * @param isOwn whether the stack has an exchange or a queue in its state: what it has lost since is no difference, because a refresh tells
 */
export function compareAdopted(
  part: AdoptedPart,
  found: AdoptableFound,
  isOwn: IsOwn = () => false,
): AdoptionComparison {
  const { core, added } = part;
  const isEndpoint = part.kind === "endpoint";
  const missing = missingIn(core, found);
  const there = {
    exchanges: core.exchanges.length - missing.exchange.length,
    queues: core.queues.length - missing.queue.length,
    bindings: core.bindings.length - missing.bindings.length,
  };
  const additions = [
    ...describeAdded(isEndpoint ? allOf(part) : added, found),
    ...(isEndpoint ? missing.bindings.map((binding) => describeBinding(binding)) : []),
  ];
  if (there.exchanges + there.queues === 0) return { differences: [], there, additions };
  const differences = [
    ...core.exchanges
      .filter(({ name }) => !isOwn("exchange", name))
      .flatMap((plan) => compareExchange(plan, found.exchanges.get(plan.name))),
    ...core.queues
      .filter(({ name }) => !isOwn("queue", name))
      .flatMap((plan) => [
        ...compareQueue(plan, found.queues.get(plan.name), found.defaultType),
        ...compareUntyped(plan, found.queues.get(plan.name), found.defaultType),
      ]),
    ...(isEndpoint ? retiredQueues(missing, found) : describeMissing(missing, found, isOwn)),
  ];
  // Where another verb changes the network first, its last level leads elsewhere until then.
  const isChanged = differences.some((difference) => difference.includes("rabbitmq-delay enforce"));
  if (!isChanged) {
    const strangers = strangersIn(part, found.bindings).filter(
      ({ source, destination, destinationType }) => !(isOwn("exchange", source) && isOwn(destinationType, destination)),
    );
    differences.push(...strangers.map((binding) => `${describeBinding(binding)} is there, and not in the plan`));
  }
  return { differences: differences.map((difference) => difference + adviceOf(part, difference)), there, additions };
}

/** Queues that somebody has unbound from the exchange of their name, which leads to others now: bound again, each message comes twice. */
function retiredQueues({ bindings }: Missing, { exchanges, queues, bindings: found }: AdoptableFound): string[] {
  return bindings
    .filter(({ source, destination, destinationType }) => source === destination && destinationType === "queue")
    .filter(({ source, destination }) => exchanges.has(source) && queues.has(destination))
    .flatMap(({ source }) => {
      const others = found.filter((binding) => binding.source === source).map(({ destination }) => destination);
      if (others.length === 0) return [];
      return [
        `exchange ${source} leads to ${others.join(", ")} and not to queue ${source}: bound to both, each message would come twice; leave this ` +
          "endpoint out, or bind the queue by hand where that is meant",
      ];
    });
}

/** Bindings that the plan does not have, by which messages go another way as well. */
function strangersIn(part: AdoptedPart, found: readonly BindingPlan[]): BindingPlan[] {
  if (part.kind === "network") return shortcutsOf(allOf(part), found);
  const { closed = [], core } = part;
  if (closed.length === 0) return [];
  const planned = new Set(core.bindings.map(bindingIdentity));
  return found.filter((binding) => closed.includes(binding.source) && !planned.has(bindingIdentity(binding)));
}

/** What of a plan is not on the broker. */
interface Missing {
  exchange: EntityPlan["exchanges"];
  queue: EntityPlan["queues"];
  bindings: EntityPlan["bindings"];
}

function missingIn(core: EntityPlan, found: AdoptableFound): Missing {
  const bound = identitiesOf(found.bindings);
  return {
    exchange: core.exchanges.filter(({ name }) => !found.exchanges.has(name)),
    queue: core.queues.filter(({ name }) => !found.queues.has(name)),
    bindings: core.bindings.filter((binding) => !bound.has(bindingIdentity(binding))),
  };
}

const identities = new WeakMap<readonly BindingPlan[], ReadonlySet<string>>();

/** Made once for all parts that are compared with a broker. */
function identitiesOf(bindings: readonly BindingPlan[]): ReadonlySet<string> {
  const known = identities.get(bindings) ?? new Set(bindings.map(bindingIdentity));
  identities.set(bindings, known);
  return known;
}

/** Whether the stack has an exchange or a queue in its state. */
type IsOwn = (kind: "exchange" | "queue", name: string) => boolean;

/** A binding of what is missing itself is not named as well. */
function describeMissing(missing: Missing, found: AdoptableFound, isOwn: IsOwn): string[] {
  const isThere = { exchange: found.exchanges, queue: found.queues };
  const isNamed = ({ source, destination, destinationType }: BindingPlan): boolean =>
    isThere.exchange.has(source) &&
    isThere[destinationType].has(destination) &&
    !(isOwn("exchange", source) && isOwn(destinationType, destination));
  return [
    ...(["exchange", "queue"] as const).flatMap((kind) =>
      missing[kind].filter(({ name }) => !isOwn(kind, name)).map(({ name }) => `${kind} ${name} is missing`),
    ),
    ...missing.bindings.filter(isNamed).map((binding) => `${describeBinding(binding)} is missing`),
  ];
}

/** What changes in the code where a difference can be the code's; else what to do on the broker. */
function adviceOf({ kind, preset, core, closed = [] }: AdoptedPart, difference: string): string {
  const [, ...more] = difference.split(" exists with ");
  const values = more.join(" exists with ");
  if (/\(rabbitmq-delay enforce|default_queue_type makes/.test(values)) return "";
  if (difference.endsWith(STRANGE)) {
    const isPattern = closed.some((exchange) => difference.startsWith(`the binding of queue ${exchange} to exchange`));
    return `; messages would go that way as well: unbind it${isPattern ? ", or give patterns as the broker has them" : ""}`;
  }
  if (difference.endsWith(MISSING)) {
    const all = core.queues.length + core.exchanges.length;
    const way =
      kind === "retry"
        ? "give delays, rejected or patterns as the broker has them"
        : "let whoever made the rest declare it";
    return (
      `, while others of the plan's ${all} exchanges and queues are there: ${way}, or leave adopt out for the one update that shall ` +
      "make what is missing"
    );
  }
  const option = optionOf(kind, preset, values);
  return option === undefined
    ? `: it can't be adopted as it is; ${OTHERWISE[kind]}`
    : `: give ${option} as the broker has it`;
}

const STRANGE = " is there, and not in the plan";
const MISSING = " is missing";

/** What is left where no option makes the plan as the broker has it. A network's names tell its shape, so that another shape is another network. */
const OTHERWISE: Record<AdoptedPart["kind"], string> = {
  network: "drain it and delete it, and let whoever made it declare it anew",
  endpoint: "leave createQueue and client out, and the stack only binds it; or drain it and delete it",
  retry: "drain it and delete it, or plan it otherwise",
};

/** What follows from a queue's type, so that the type decides it. */
const OF_TYPE = ["x-queue-type", "x-dead-letter-strategy", "x-overflow", "x-queue-mode"];

/** Which option decides arguments of a retry pair's queues, whose names are the broker's own. */
const OF_RETRIES: Record<string, string> = {
  "x-message-ttl": "delays",
  "x-dead-letter-strategy": "atLeastOnce",
  "x-overflow": "atLeastOnce",
  "x-dead-letter-exchange": "rejected",
  "x-dead-letter-routing-key": "rejected",
};

/** The one option that makes the plan as the broker has it, if there is one. */
function optionOf(kind: AdoptedPart["kind"], preset: Preset | undefined, values: string): string | undefined {
  const properties = [...values.matchAll(/(?:^|\), )([\w-]+) /g)].map(([, name]) => name as string);
  if (properties.includes("x-queue-type")) {
    const isType = properties.every((name) => OF_TYPE.includes(name));
    return isType && (kind !== "network" || preset === "celery") ? "queueType" : undefined;
  }
  const options = new Set(properties.map((name) => (kind === "retry" ? OF_RETRIES[name] : undefined)));
  return options.size === 1 ? [...options][0] : undefined;
}

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

function allOf({ core, added }: AdoptedPart): EntityPlan {
  return {
    exchanges: [...core.exchanges, ...added.exchanges],
    queues: [...core.queues, ...added.queues],
    bindings: [...core.bindings, ...added.bindings],
  };
}

function none(): EntityPlan {
  return { exchanges: [], queues: [], bindings: [] };
}
