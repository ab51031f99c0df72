import type { PolicyPlan, QueuePlan } from "../entities";
import { describeDifferences } from "../differences";
import { isLiftedLimit, isUnlimited } from "./deliveryLimit";
import { isDetourPolicy } from "./detourPolicy";
import { describeKeys, harmOf } from "./policyEffects";
import { appliesTo, certainlyAppliesTo, ownAppliesTo } from "./policyScope";

/** A policy or an operator policy as a broker holds it. */
export interface FoundPolicy {
  name: string;
  /** Regular expression over names, in the broker's dialect. */
  pattern: string;
  /** `queues`, `classic_queues`, `quorum_queues`, `streams`, `exchanges` or `all`. */
  applyTo: string;
  priority: number;
  definition: Record<string, unknown>;
  /** Whether it is an operator policy, which applies beside the others. */
  isOperator: boolean;
}

/** What is or will be on a broker, as far as policies matter to it. */
export interface PolicySubject {
  exchanges: { name: string }[];
  queues: Pick<QueuePlan, "name" | "arguments">[];
  /** Our own policies. */
  policies: PolicyPlan[];
  /** Those of the queues that belong to a service, which may want a policy for them. */
  endpointQueues?: string[];
  /** Those of the queues that hold what services failed at, whose messages somebody may reject. */
  errorQueues?: string[];
}

/** What a policy of others does to a network. */
export interface PolicyFinding {
  /** `error`: it loses, delays or misdirects messages; `warning`: worth knowing. */
  severity: "error" | "warning";
  /** Name of the policy. */
  policy: string;
  /** The policy's key that does harm, e.g. `delivery-limit`; undefined for a finding about the policy as a whole. */
  key?: string;
  /** Whether it is so already, because our policy is on the broker: no update makes it worse. */
  isPresent?: boolean;
  /** One sentence: which policy, its keys, what they would do, and the way out. */
  message: string;
}

/**
 * Judges the policies of others. Of all that match an entity, the one of the highest priority applies alone; which one it is
 * among equals is not defined (measured: RabbitMQ 3.10.8 and 4.3.6 differ), so each of them counts. The first operator policy
 * applies beside it. The lower of a policy's, an operator policy's and an argument's number wins; of all other settings, the
 * argument does.
 * One under the name of ours that says something else is judged as another's, but for what ours decides: an update does not put
 * back what somebody edited, and may as well be about to change what an earlier one declared.
 */
export function judgePolicies(subject: PolicySubject, found: readonly FoundPolicy[]): PolicyFinding[] {
  const plans = new Map(subject.policies.map((plan) => [plan.name, plan]));
  const replacedBy = ({ name, isOperator }: FoundPolicy): PolicyPlan | undefined =>
    isOperator ? undefined : plans.get(name);
  const present = found.filter((policy) => {
    const plan = replacedBy(policy);
    return plan !== undefined && differencesOf(plan, policy).length === 0;
  });
  const foreign = found
    .filter((policy) => !present.includes(policy))
    .map((policy): OthersPolicy => ({ ...policy, replaced: replacedBy(policy) }));
  return [
    ...foreign.flatMap(edited),
    ...rivals(subject, foreign, new Set(present.map(({ name }) => name))),
    ...harms(subject, foreign),
  ];
}

interface OthersPolicy extends FoundPolicy {
  /** The policy of ours in whose place it is. */
  replaced?: PolicyPlan;
}

function differencesOf(plan: PolicyPlan, found: FoundPolicy): string[] {
  const said = ({ pattern, applyTo, priority, definition }: FoundPolicy | PolicyPlan): Record<string, unknown> => ({
    pattern,
    "apply-to": applyTo,
    priority,
    ...definition,
  });
  return describeDifferences(said(found), said(plan));
}

/** Our own policy, where the broker has it otherwise. */
function edited({ replaced, ...policy }: OthersPolicy): PolicyFinding[] {
  if (replaced === undefined) return [];
  const message =
    `policy ${policy.name} is on the broker with ${differencesOf(replaced, policy).join(", ")}; unless an update is about to ` +
    `change it, somebody edited it: put it back, by pulumi up --refresh or on the broker`;
  return [{ severity: "warning", policy: policy.name, message }];
}

interface Entity {
  name: string;
  /** Undefined for an exchange. */
  queue?: PolicySubject["queues"][number];
}

function entitiesOf({ exchanges, queues }: PolicySubject): Entity[] {
  return [...exchanges.map(({ name }) => ({ name })), ...queues.map((queue) => ({ name: queue.name, queue }))];
}

function isOurs(plan: PolicyPlan, { name, queue }: Entity): boolean {
  return ownAppliesTo(plan, name, queue?.arguments);
}

/**
 * Policies that take ours away, or lose their own effect to ours.
 * @param present names of our policies that the broker has as planned
 */
function rivals(subject: PolicySubject, foreign: OthersPolicy[], present: ReadonlySet<string>): PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  const all = entitiesOf(subject);
  const others = foreign.filter(({ isOperator }) => !isOperator);
  const strongest = new Map(all.map((entity) => [entity, new Set(strongestOn(entity, others))]));
  for (const plan of subject.policies) {
    const entities = all.filter((entity) => isOurs(plan, entity));
    for (const other of others.filter(({ replaced }) => replaced !== plan)) {
      const shared = entities.filter((entity) => strongest.get(entity)?.has(other));
      if (shared.length === 0 || (other.priority < plan.priority && keepsAll(plan, other))) continue;
      const what = listed(plan.applyTo === "exchanges" ? "exchange" : "queue", namesOf(shared));
      const hasOwn = "dead-letter-exchange" in plan.definition;
      const undead = other.priority < plan.priority && !hasOwn ? losesDeadLetters(subject, shared, other) : [];
      if (undead.length > 0) {
        const { effect, remedy } = purposeOf(plan);
        // Only an endpoint's queue may have arguments of its own.
        const isEndpoint = undead.every((name) => subject.endpointQueues?.includes(name));
        const otherwise = isEndpoint
          ? "declare the queue with the argument x-dead-letter-exchange"
          : "narrow its pattern, if they may be dropped";
        const message =
          `policy ${other.name} does not apply to ${listed("queue", undead)} beside ${plan.name}, which goes before it (priority ` +
          `${plan.priority} over ${other.priority}), ${effect}: what is rejected there or expires would be dropped, and not go to its ` +
          `dead-letter exchange. Give it a priority above ${plan.priority}, and ${remedy}; or ${otherwise}`;
        const isPresent = present.has(plan.name);
        findings.push({ severity: "error", policy: other.name, message, ...(isPresent ? { isPresent } : {}) });
      } else if (other.priority < plan.priority) {
        const isEndpoint = namesOf(shared).every((name) => subject.endpointQueues?.includes(name));
        const message =
          `policy ${other.name} no longer applies to ${what}: ${plan.name} goes before it (priority ${plan.priority} over ` +
          `${other.priority}), so that its ${describeKeys(other.definition)} have no effect there` +
          (isEndpoint ? "; an endpoint's queuePolicy can keep them" : "");
        findings.push({ severity: "warning", policy: other.name, message });
      } else if (!setsTheSame(other, plan)) {
        const { effect, remedy } = purposeOf(plan);
        const message = subject.exchanges.some(({ name }) => isDetourPolicy(other.name, name))
          ? `policy ${other.name} is of a run of rabbitmq-delay enforce that has not ended: until it has, the network's messages go where that ` +
            "policy says, and have no other way; leave it alone, and run rabbitmq-delay enforce again, or with --undo"
          : `policy ${other.name} (pattern ${other.pattern}, priority ${other.priority}) applies to ${what} and would keep ` +
            `${plan.name} (priority ${plan.priority}) from ${effect}; lower its priority, narrow its pattern, or ${remedy}`;
        findings.push({ severity: "error", policy: other.name, message });
      }
    }
  }
  return findings;
}

/** Queues of services and error queues whose dead letters go where a policy says, and nowhere without that policy. */
function losesDeadLetters(
  { endpointQueues = [], errorQueues = [] }: PolicySubject,
  entities: Entity[],
  { definition }: FoundPolicy,
): string[] {
  if (!("dead-letter-exchange" in definition)) return [];
  const bare = entities.filter(({ queue }) => queue !== undefined && !("x-dead-letter-exchange" in queue.arguments));
  return namesOf(bare).filter((name) => [...endpointQueues, ...errorQueues].includes(name));
}

/** Whether a policy of ours has all that it pushes off a queue. */
function keepsAll(plan: PolicyPlan, { definition }: FoundPolicy): boolean {
  return setsTheSame({ definition: plan.definition }, { definition: definition as PolicyPlan["definition"] });
}

function setsTheSame({ definition }: Pick<FoundPolicy, "definition">, plan: Pick<PolicyPlan, "definition">): boolean {
  return Object.entries(plan.definition).every(
    ([key, value]) =>
      definition[key] === value || (key === "delivery-limit" && isLiftedLimit(definition[key]) && isLiftedLimit(value)),
  );
}

/** What one of our policies is for, and how to do without it. */
function purposeOf({ name, definition }: PolicyPlan): { effect: string; remedy: string } {
  const settings = Object.entries(definition)
    .map(([key, value]) => `${key} ${value}`)
    .join(", ");
  const same = `give it the same: ${settings}`;
  if ("alternate-exchange" in definition) {
    const target = definition["alternate-exchange"];
    // A network's policy is named for its parking exchange, as a delayed exchange's is, which can't do without.
    const remedy = name === target ? `${same}, or, for a network, set parking: false` : same;
    return { effect: `leading what nobody takes to exchange ${target}`, remedy };
  }
  if ("delayed-retry-type" in definition) {
    return { effect: "delaying its retries", remedy: "set settings: arguments" };
  }
  return { effect: `setting ${settings}`, remedy: same };
}

/** Policies whose settings would do something to messages in our queues; what a policy does to many queues is told once. */
function harms(subject: PolicySubject, foreign: OthersPolicy[]): PolicyFinding[] {
  const endpoints = new Set(subject.endpointQueues);
  const groups = new Map<
    string,
    {
      policy: OthersPolicy;
      isError: boolean;
      isOverOurs: boolean;
      harmful: string;
      setting: string;
      harm: string;
      names: string[];
    }
  >();
  for (const queue of subject.queues) {
    const effective = effectiveOn(queue, subject, foreign);
    const own = ownPolicyOf(queue, subject, effective)?.definition;
    const isOverOurs = subject.policies.some((plan) => isOurs(plan, { name: queue.name, queue }));
    for (const policy of effective) {
      const beside = policy.isOperator ? own : undefined;
      for (const { key: harmful, setting, kind, harm } of harmOf(queue, foreignKeys(policy, queue), beside)) {
        // A service may want a policy for its own queue, but not against the queue's own argument.
        const isError = !endpoints.has(queue.name) || (harmful === "delivery-limit" && isUnlimited(queue));
        const key = JSON.stringify([policy.isOperator, policy.name, isError, isOverOurs, setting, kind]);
        const group = groups.get(key) ?? { policy, isError, isOverOurs, harmful, setting, harm, names: [] };
        groups.set(key, { ...group, names: [...group.names, queue.name] });
      }
    }
  }
  return [...groups.values()].map(({ policy, isError, isOverOurs, harmful, setting, harm, names }) => ({
    severity: isError ? "error" : "warning",
    policy: policy.name,
    key: harmful,
    message:
      `${policy.isOperator ? "operator policy" : "policy"} ${policy.name} (pattern ${policy.pattern}, priority ${policy.priority}) ` +
      `sets ${setting} on ${listed("queue", names)}: ${harm}; ${remedyOf(policy, isOverOurs)}`,
  }));
}

/** Our policy that applies to a queue, unless another one may. */
function ownPolicyOf(
  queue: PolicySubject["queues"][number],
  { policies }: PolicySubject,
  effective: OthersPolicy[],
): PolicyPlan | undefined {
  const [own] = policies
    .filter((plan) => isOurs(plan, { name: queue.name, queue }))
    .sort((one, other) => other.priority - one.priority);
  return effective.some(({ isOperator }) => !isOperator) ? undefined : own;
}

/** The settings of a policy that are not ours, in whatever value: what ours sets on its queues, this update may be about to change. */
function foreignKeys(
  { definition, replaced }: OthersPolicy,
  queue: PolicySubject["queues"][number],
): typeof definition {
  if (replaced === undefined || !isOurs(replaced, { name: queue.name, queue })) return definition;
  return Object.fromEntries(Object.entries(definition).filter(([key]) => !(key in replaced.definition)));
}

/** @param isOverOurs whether a policy of ours applies to the queues, which another one of a higher priority would keep away, too */
function remedyOf({ isOperator, replaced }: OthersPolicy, isOverOurs: boolean): string {
  if (replaced !== undefined) {
    const { pattern, applyTo, priority, definition } = replaced;
    return (
      `it has the name of this stack's own policy: give it back its pattern ${pattern}, apply-to ${applyTo}, priority ` +
      `${priority} and definition ${JSON.stringify(definition)}`
    );
  }
  if (isOperator) return "narrow its pattern, or take the key out of it, which only an administrator can";
  return `narrow its pattern, or ${isOverOurs ? "lower its priority" : "give these queues a policy of a higher priority without it"}`;
}

/** The policies that apply to a queue, or may: the strongest, those that are not surely weaker, and operator policies likewise. */
function effectiveOn(
  { name, arguments: values }: PolicySubject["queues"][number],
  { policies }: PolicySubject,
  foreign: OthersPolicy[],
): OthersPolicy[] {
  // One that is there otherwise keeps nothing away.
  const absent = new Set(foreign.map(({ replaced }) => replaced));
  const ours = policies
    .filter((plan) => !absent.has(plan))
    .filter((plan) => isOurs(plan, { name, queue: { name, arguments: values } }));
  const ourPriority = Math.max(...ours.map(({ priority }) => priority), -Infinity);
  return [false, true].flatMap((isOperator) =>
    strongestOn(
      { name, queue: { name, arguments: values } },
      foreign.filter((policy) => policy.isOperator === isOperator),
    ).filter(({ priority }) => isOperator || priority >= ourPriority),
  );
}

/** The policies of one kind that apply to an entity, or may: those that none of the others keeps away from it for sure. */
function strongestOn({ name, queue }: Entity, policies: OthersPolicy[]): OthersPolicy[] {
  const matching = policies.filter((policy) => appliesTo(policy, name, queue?.arguments));
  // A policy in the place of ours may be about to change.
  const sure = matching.filter(
    (policy) => policy.replaced === undefined && certainlyAppliesTo(policy, name, queue?.arguments),
  );
  const strongest = Math.max(...sure.map(({ priority }) => priority), -Infinity);
  return matching.filter(({ priority }) => priority >= strongest);
}

function namesOf(entities: { name: string }[]): string[] {
  return entities.map(({ name }) => name);
}

function listed(kind: string, names: string[]): string {
  return `${kind} ${names[0]}${names.length > 1 ? ` and ${names.length - 1} more` : ""}`;
}
