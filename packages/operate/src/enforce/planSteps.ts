import { isDeepStrictEqual } from "node:util";
import { DelayTopologyError, PolicyPlan } from "@rabbitmq-delay/topology";
import { appliesTo, bindingIdentity, compareExchange, compareQueue } from "@rabbitmq-delay/topology/stack";
import { bindingsForOldEnd, endpointBindings } from "./endpointBindings";
import { EnforceError } from "./enforceError";
import { foresee } from "./foresee";
import type { LiveMatching } from "./liveMatching";
import type { Step } from "./step";
import { MatchingChange, PRIORITY } from "./matchingChange";

/**
 * All that is left to do, from what is on the broker: nothing is remembered between two runs, so a run that was killed is gone on with by
 * another one. At each moment each message has one way, and one alone.
 * @returns no step for a network that is as it shall be
 * @throws DelayTopologyError for a network that is not there, or that differs from both of its forms
 */
export function planSteps(change: MatchingChange, live: LiveMatching): Step[] {
  checkNetwork(change, live);
  const bound = new Set(live.bindings.map(bindingIdentity));
  const target = targetOf(change.queue.name, live);
  const isBound = change.after.every((binding) => bound.has(bindingIdentity(binding)));
  const isDone = target === change.to && isBound && !bound.has(bindingIdentity(change.before[1]));
  if (!isDone) checkPolicies(change, live);
  const detour = isDone ? [] : planDetour(change, live);
  for (const step of detour) if (step.do === "unbind") bound.delete(bindingIdentity(step.binding));
  const steps = [
    ...planEnd(change, live, isDone),
    ...detour,
    ...(isDone ? [] : [...planLevel(change, live), ...planReturn(change, bound)]),
    ...planCleaning(change, live, isDone),
  ];
  // By a plan of its own: an endpoint may have been bound to the old end since this one was made.
  return steps.length > 0 ? steps : leaveOldEnd(change, live);
}

/**
 * All steps up to the end of the change, as far as nobody else changes anything: what {@link planSteps} says after them, too.
 * @throws DelayTopologyError as {@link planSteps} does
 */
export function planAllSteps(change: MatchingChange, live: LiveMatching): Step[] {
  const all: Step[] = [];
  let left = planSteps(change, live);
  for (let after = live; left.length > 0; left = planSteps(change, after)) {
    all.push(...left);
    after = left.reduce(foresee, after);
  }
  return all;
}

/**
 * Whether a step that was planned a while ago is still the next one to be made. Another run may have gone on while this one was stopped, or
 * back: what the step takes away may then be the only way that is left.
 * @throws DelayTopologyError as {@link planSteps} does
 */
export function isStillNext(step: Step, change: MatchingChange, live: LiveMatching): boolean {
  const isWaiting = (one: Step): boolean => one.do.startsWith("await-");
  return (
    isWaiting(step) ||
    isDeepStrictEqual(
      planSteps(change, live).find((one) => !isWaiting(one)),
      step,
    )
  );
}

/** The new end has to have all that the old one has before a message comes there. */
function planEnd(change: MatchingChange, live: LiveMatching, isDone: boolean): Step[] {
  const { to, parkingOfBoth, network } = change;
  const steps: Step[] = live.exchanges.has(to) ? [] : [{ do: "declare-exchange", exchange: to }];
  const parking = live.policies.find(({ name }) => name === parkingOfBoth?.name);
  if (parking !== undefined && parkingOfBoth !== undefined && !new RegExp(parking.pattern, "u").test(to)) {
    steps.push({ do: "set-policy", policy: parkingOfBoth });
  }
  if (!isDone) {
    const isBack = network.matching !== "enforced";
    if (isBack) steps.push(...bindingsForOldEnd(change, live).map((binding): Step => ({ do: "bind", binding })));
    const { exchange, policy } = fallbackFor(change, live);
    if (!isSet(policy, live)) steps.push({ do: "set-policy", policy });
    steps.push({ do: "await-policy", exchange, policy: policy.name });
  }
  return [...steps, ...endpointBindings(change, live).map((binding): Step => ({ do: "bind", binding }))];
}

/**
 * The fallback by which endpoints that are bound late lose nothing. Until a network is as a run shall make it, they are bound where it had
 * them before the first run: so what a run has set that was killed stays, also for a run in the other direction.
 */
function fallbackFor(
  { from, to, fallback, otherFallback }: MatchingChange,
  { policies }: LiveMatching,
): { exchange: string; policy: PolicyPlan } {
  const found = policies.find(({ name }) => name === fallback.name);
  const isOther = found?.definition["alternate-exchange"] === to;
  return isOther ? { exchange: from, policy: otherFallback } : { exchange: to, policy: fallback };
}

/** Whether a policy is there as it is planned. */
function isSet({ name, pattern, priority, definition }: PolicyPlan, { policies }: LiveMatching): boolean {
  const found = policies.find((policy) => policy.name === name);
  return (
    found?.pattern === pattern &&
    found.priority === priority &&
    Object.entries(definition).every(([key, value]) => found.definition[key] === value)
  );
}

/** Declares the detour, and leads messages onto it by taking away what is bound to level 0's exchange. */
function planDetour({ detour, before, after, exchange, queue, from }: MatchingChange, live: LiveMatching): Step[] {
  const bound = new Set(live.bindings.map(bindingIdentity));
  const ways = [before[0], before[1], after[1]].filter(
    (binding, index, all) =>
      bound.has(bindingIdentity(binding)) &&
      all.findIndex((one) => bindingIdentity(one) === bindingIdentity(binding)) === index,
  );
  // Level 0's queue is the new one already: what it has to do is to be bound.
  if (targetOf(queue.name, live) !== from && live.queues.has(queue.name)) return [];
  const steps: Step[] = [];
  if (!live.exchanges.has(detour.exchange)) steps.push({ do: "declare-exchange", exchange: detour.exchange });
  if (!isSet(detour.shield, live)) steps.push({ do: "set-policy", policy: detour.shield });
  if (!live.queues.has(detour.queue.name)) steps.push({ do: "declare-queue", queue: detour.queue });
  steps.push(
    { do: "await-ready", queue: detour.queue.name, policy: detour.shield.name },
    ...detour.bindings
      .filter((binding) => !bound.has(bindingIdentity(binding)))
      .map((binding): Step => ({ do: "bind", binding })),
  );
  if (!isSet(detour.policy, live)) steps.push({ do: "set-policy", policy: detour.policy });
  steps.push({ do: "await-policy", exchange, policy: detour.policy.name });
  return [...steps, ...ways.map((binding): Step => ({ do: "unbind", binding }))];
}

/** Declares level 0's queue anew, once nothing is in it. */
function planLevel({ queue, from }: MatchingChange, live: LiveMatching): Step[] {
  const steps: Step[] = [];
  if (targetOf(queue.name, live) === from) steps.push({ do: "drain-queue", queue: queue.name });
  if (!live.queues.has(queue.name) || steps.length > 0) steps.push({ do: "declare-queue", queue });
  return [...steps, { do: "await-ready", queue: queue.name }];
}

/** Leads messages back to level 0's queue, and past it to the new end. */
function planReturn({ before, after }: MatchingChange, bound: ReadonlySet<string>): Step[] {
  const missing = after.filter((binding) => !bound.has(bindingIdentity(binding)));
  const steps = missing.map((binding): Step => ({ do: "bind", binding }));
  // A binding to the old end that somebody made meanwhile would bring messages twice.
  if (bound.has(bindingIdentity(before[1]))) steps.push({ do: "unbind", binding: before[1] });
  return steps;
}

/** Takes the detour away, which nothing passes any more. */
function planCleaning(change: MatchingChange, live: LiveMatching, isDone: boolean): Step[] {
  const { detour, otherDetour } = change;
  const steps: Step[] = [];
  const has = (policy: PolicyPlan): boolean => live.policies.some(({ name }) => name === policy.name);
  // A run that declares level 0's queue anew makes the detour before it takes it away.
  const isMade = !isDone && (!live.queues.has(change.queue.name) || isOld(change, live));
  if (isMade || has(detour.policy)) steps.push({ do: "delete-policy", policy: detour.policy.name });
  for (const { exchange, queue, shield } of [detour, otherDetour]) {
    const isOwn = exchange === detour.exchange && isMade;
    if (isOwn || live.exchanges.has(exchange)) steps.push({ do: "delete-exchange", exchange });
    if (isOwn || live.queues.has(queue.name)) steps.push({ do: "drain-queue", queue: queue.name });
    if (isOwn || has(shield)) steps.push({ do: "delete-policy", policy: shield.name });
  }
  return steps;
}

/** What is bound to the old end counts no longer, and it goes where only the old form of the network has it. */
function leaveOldEnd({ fallback, parking, parkingOfBoth, network, from }: MatchingChange, live: LiveMatching): Step[] {
  const steps: Step[] = [];
  if (live.policies.some(({ name }) => name === fallback.name)) {
    steps.push({ do: "delete-policy", policy: fallback.name });
  }
  if (network.matching === "enforced") return steps;
  const found = live.policies.find(({ name }) => name === parkingOfBoth?.name);
  if (live.exchanges.has(from)) steps.push({ do: "delete-exchange", exchange: from });
  if (parking !== undefined && found !== undefined && found.pattern !== parking.pattern) {
    steps.push({ do: "set-policy", policy: parking });
  }
  return steps;
}

/** The exchange to which a queue dead-letters; undefined without the queue. */
function targetOf(queue: string, live: LiveMatching): unknown {
  return live.queues.get(queue)?.arguments["x-dead-letter-exchange"];
}

function isOld({ queue, from }: MatchingChange, live: LiveMatching): boolean {
  return targetOf(queue.name, live) === from;
}

/** @throws DelayTopologyError before anything is done to a network that is not the one that was given */
function checkNetwork(change: MatchingChange, live: LiveMatching): void {
  const { network, exchange, queue, detour, otherDetour, before, after } = change;
  const refuse = (what: string): never => {
    throw new DelayTopologyError("network", network.prefix, what);
  };
  const missing = [...network.entryExchanges, network.deliveryExchange].find((name) => !live.exchanges.has(name));
  if (missing !== undefined) refuse(`exchange ${missing} of it is not on the broker`);
  // An alternate exchange among its arguments would go before a policy's.
  const exchanges = [...new Set([exchange, change.from, change.to, detour.exchange, otherDetour.exchange])];
  const differences = [
    ...exchanges.flatMap((name) => compareExchange({ name, type: "topic" }, live.exchanges.get(name))),
    ...differenceOf(change, live),
    ...[detour, otherDetour].flatMap((one) => compareQueue(one.queue, live.queues.get(one.queue.name))),
  ];
  if (differences.length > 0) refuse(`${differences[0]}; rabbitmq-delay check says what else differs`);
  const own = new Set([...before, ...after].map(bindingIdentity));
  const foreign = live.bindings.find(
    (binding) =>
      (binding.source === exchange || (binding.destinationType === "queue" && binding.destination === queue.name)) &&
      !own.has(bindingIdentity(binding)),
  );
  if (foreign === undefined) return;
  const { source, destination, destinationType, routingKey } = foreign;
  refuse(
    `exchange ${source} also leads to ${destinationType} ${destination} with the key ${JSON.stringify(routingKey)}, by which messages ` +
      `skip or repeat a part of their delay; unbind it first`,
  );
}

/**
 * Policies of others: only one applies to an exchange or a queue.
 * @throws EnforceError for one that goes before those of the change, and for one that would be left behind with the old end
 */
function checkPolicies(change: MatchingChange, { policies, bindings }: LiveMatching): void {
  const { from, to, exchange, detour, otherDetour, fallback, parkingOfBoth } = change;
  const own = [detour, otherDetour].flatMap(({ policy, shield }) => [policy, shield]).concat(fallback);
  const names = new Set([...own, parkingOfBoth].map((policy) => policy?.name));
  const others = policies.filter(({ name }) => !names.has(name));
  const strong = others.find(
    (policy) =>
      policy.priority >= PRIORITY &&
      ([exchange, to].some((name) => appliesTo(policy, name)) ||
        [detour, otherDetour].some(({ queue }) => appliesTo(policy, queue.name, queue.arguments))),
  );
  if (strong !== undefined) {
    const isUnderway = !bindings.some(({ source }) => source === exchange);
    const urgent = isUnderway ? "THIS CHANGE IS UNDER WAY, AND MESSAGES HAVE NO WAY UNTIL THEN: " : "";
    throw new EnforceError(
      `policy ${strong.name} has priority ${strong.priority} and applies to what messages pass meanwhile, so that the policies of this change ` +
        `would have no effect; ${urgent}give it one below ${PRIORITY}, or a narrower pattern${isUnderway ? ", and run this again at once" : ""}`,
    );
  }
  const left = others.find((policy) => appliesTo(policy, from) && !appliesTo(policy, to));
  if (left === undefined) return;
  const said = Object.keys(left.definition).join(", ");
  throw new EnforceError(
    `policy ${left.name} applies to exchange ${from}, where messages arrive, and not to ${to}, where they will, so that what it says (${said}) would ` +
      "no longer hold; widen its pattern to both",
  );
}

/** How level 0's queue differs from what it is before the change and after it, if it is neither. */
function differenceOf({ from, to, queue }: MatchingChange, live: LiveMatching): string[] {
  const differences = [from, to].map((target) => {
    const leading = { ...queue, arguments: { ...queue.arguments, "x-dead-letter-exchange": target } };
    return compareQueue(leading, live.queues.get(queue.name));
  });
  return differences.find((found) => found.length === 0) ?? (differences[1] as string[]);
}
