import { BindingPlan, EntityPlan, PolicyPlan, DelayNetwork } from "@rabbitmq-delay/topology";
import {
  AuditFinding,
  DeclaredExchange,
  DeclaredQueue,
  compareExchange,
  compareQueue,
  FoundPolicy,
  bindingIdentity,
  ownAppliesTo,
  shortcutsOf,
} from "@rabbitmq-delay/topology/stack";

/** What one part of a stack declares: a network, a kind of retries, or a store's side of the broker. */
export interface PlannedPart {
  /** Its name in findings, e.g. `network orders`. */
  subject: string;
  entities: EntityPlan;
  /** Our own policies for this part. */
  policies: PolicyPlan[];
  /** Exchanges and queues that others use too, so that they don't prove that the part exists. */
  shared?: readonly string[];
  /**
   * With a part that is adopted: the exchanges and queues that the stack adds to what is there, by its first update. It adds policies too.
   */
  additions?: readonly string[];
}

/** The things on a broker that are compared with a plan. */
export interface PartsOnBroker {
  exchanges: (DeclaredExchange & { policy?: string })[];
  queues: (DeclaredQueue & {
    messages?: number;
    consumers?: number;
    policy?: string | null;
    effective_policy_definition?: Record<string, unknown>;
  })[];
  bindings: BindingPlan[];
  policies: FoundPolicy[];
  /** The type that the vhost gives a queue without a type; undefined if the broker does not say. */
  defaultQueueType?: string;
}

/** Whether anything of a part is on the broker. */
export function isPartThere({ entities, shared = [] }: PlannedPart, { exchanges, queues }: PartsOnBroker): boolean {
  const names = (plans: { name: string }[]): Set<string> =>
    new Set(plans.map(({ name }) => name).filter((name) => !shared.includes(name)));
  const [plannedExchanges, plannedQueues] = [names(entities.exchanges), names(entities.queues)];
  return exchanges.some(({ name }) => plannedExchanges.has(name)) || queues.some(({ name }) => plannedQueues.has(name));
}

/**
 * Finds what a part on the broker lacks, or has in another form than planned: such a part loses messages, delivers them early, or keeps
 * them. If an exchange or queue is missing, its bindings are not listed as well.
 */
export function auditPart(part: PlannedPart, found: PartsOnBroker): AuditFinding[] {
  const exchanges = new Map(found.exchanges.map((exchange) => [exchange.name, exchange]));
  const queues = new Map(found.queues.map((queue) => [queue.name, queue]));
  const { subject, entities, additions = [] } = part;
  const missing = (kind: "exchange" | "queue", name: string): AuditFinding =>
    additions.includes(name) ? toBeAdded(subject, `${kind} ${name}`) : lost(`${kind} ${name}`);
  const lost = (what: string): AuditFinding => ({
    rule: "missing-part",
    severity: "error",
    subject,
    message: `${what} is not on the broker: messages that should go through it are parked, refused or dropped, or stop the queue before it; declare it again`,
  });
  const changed = (difference: string): AuditFinding => ({
    rule: "changed-part",
    severity: "error",
    subject,
    message: `${difference}: messages are delayed or kept otherwise than planned; drain and delete it, and declare it again`,
  });
  return [
    ...entities.exchanges.filter(({ name }) => !exchanges.has(name)).map(({ name }) => missing("exchange", name)),
    ...entities.queues.filter(({ name }) => !queues.has(name)).map(({ name }) => missing("queue", name)),
    ...entities.exchanges.flatMap((plan) => compareExchange(plan, exchanges.get(plan.name))).map(changed),
    ...entities.queues
      .flatMap((plan) => compareQueue(plan, queues.get(plan.name), found.defaultQueueType))
      .map(changed),
    ...missingBindings(part, found.bindings, { exchanges, queues }),
    ...part.policies.flatMap((policy) => idlePolicy(part, policy, found)),
    ...consumedQueues(part, found),
  ];
}

/** Names what the first update of a stack that adopts a part adds or changes. */
function toBeAdded(subject: string, what: string, isChange = false): AuditFinding {
  return {
    rule: "missing-part",
    severity: "warning",
    subject,
    message: `${what} is not ${isChange ? "as planned yet; the update changes" : "there yet; the update adds"} it`,
  };
}

/** Finds consumers of queues in which messages wait: each takes messages before their delay is over. */
function consumedQueues({ subject, entities }: PlannedPart, { queues }: PartsOnBroker): AuditFinding[] {
  const waiting = new Set(entities.queues.filter(({ arguments: values }) => isWaiting(values)).map(({ name }) => name));
  return queues
    .filter(({ name, consumers = 0 }) => waiting.has(name) && consumers > 0)
    .map(({ name, consumers = 0 }) => ({
      rule: "consumed",
      severity: "error",
      subject,
      message:
        `queue ${name} has ${consumers} ${consumers === 1 ? "consumer, which gets" : "consumers, which get"} its messages before their delay is over, ` +
        "instead of what they are for; stop what consumes the queue",
    }));
}

function isWaiting(values: Record<string, unknown>): boolean {
  return "x-message-ttl" in values && "x-dead-letter-exchange" in values;
}

function missingBindings(
  { subject, entities }: PlannedPart,
  found: BindingPlan[],
  there: { exchanges: Map<string, unknown>; queues: Map<string, unknown> },
): AuditFinding[] {
  const bound = new Set(found.map(bindingIdentity));
  return entities.bindings
    .filter(
      ({ source, destination, destinationType }) =>
        there.exchanges.has(source) && (destinationType === "queue" ? there.queues : there.exchanges).has(destination),
    )
    .filter((binding) => !bound.has(bindingIdentity(binding)))
    .map(({ source, destination, destinationType, routingKey }) => ({
      rule: "missing-part",
      severity: "error",
      subject,
      message:
        `exchange ${source} does not lead to ${destinationType} ${destination} with the key ${JSON.stringify(routingKey)}: its messages ` +
        `are parked, refused or dropped, or stop the queue before it; bind it again`,
    }));
}

/** Finds a policy of ours that does not apply where it should: it is missing, differs, or another one takes precedence. */
function idlePolicy(
  { subject, entities, additions }: PlannedPart,
  plan: PolicyPlan,
  found: PartsOnBroker,
): AuditFinding[] {
  const isForExchanges = plan.applyTo === "exchanges";
  const subjects: { name: string; arguments?: Record<string, unknown> }[] = isForExchanges
    ? entities.exchanges.map(({ name }) => ({ name }))
    : entities.queues;
  const planned = new Set(
    subjects.filter((subject) => ownAppliesTo(plan, subject.name, subject.arguments)).map(({ name }) => name),
  );
  const definitions = new Map(
    found.policies.filter(({ isOperator }) => !isOperator).map(({ name, definition }) => [name, definition]),
  );
  const isWanted = (given: Record<string, unknown>): boolean =>
    Object.entries(plan.definition).every(([key, wanted]) => isSet(key, wanted, given));
  const idle = isForExchanges
    ? found.exchanges.filter(
        ({ name, policy, arguments: values }) =>
          planned.has(name) && !isWanted({ ...definitions.get(policy ?? ""), ...values }),
      )
    : // If the broker does not count a queue's messages, it may not show the queue's policy either. It goes on showing a removed or changed policy for a while, so the policy itself must say the same.
      found.queues.filter(
        ({ name, messages, policy, effective_policy_definition: effective = {} }) =>
          planned.has(name) &&
          messages !== undefined &&
          !(isWanted(effective) && isWanted(definitions.get(policy ?? "") ?? {})),
      );
  const [first, ...others] = idle;
  if (first === undefined) return [];
  const there = definitions.get(plan.name);
  if (additions !== undefined && !isWanted(there ?? {}))
    return [toBeAdded(subject, `policy ${plan.name}`, there !== undefined)];
  const where = `${isForExchanges ? "exchange" : "queue"} ${first.name}${others.length > 0 ? ` and ${others.length} more` : ""}`;
  if (there === undefined) return [absentPolicy(subject, plan, where)];
  const message = `policy ${plan.name} has no effect on ${where}: ${harmWithout(plan)}; see which policy goes before it, or, if none does, give it another priority and the former one again, because a broker that was interrupted while it set a policy applies it only when it changes`;
  return [{ rule: "missing-part", severity: "error", subject, message }];
}

/** Names all that a policy says, because nothing on the broker tells what it said. */
function absentPolicy(subject: string, plan: PolicyPlan, where: string): AuditFinding {
  const { name, pattern, applyTo, priority, definition } = plan;
  const message =
    `policy ${name} is not on the broker, so that it has no effect on ${where}: ${harmWithout(plan)}; set it, with pattern ${pattern}, apply-to ` +
    `${applyTo}, priority ${priority} and definition ${JSON.stringify(definition)}, or run pulumi up --refresh where a stack has it`;
  return { rule: "missing-part", severity: "error", subject, message };
}

function isSet(key: string, wanted: string | number, given: Record<string, unknown>): boolean {
  const value = given[key];
  if (key === "delivery-limit" && isOutOfReach(wanted)) return isOutOfReach(value);
  return value === wanted;
}

/** Whether a limit is one that no consumer reaches: none, or NServiceBus's own. */
function isOutOfReach(limit: unknown): boolean {
  return typeof limit === "number" && (limit < 0 || limit >= 100_000);
}

function harmWithout({ definition }: PolicyPlan): string {
  if ("alternate-exchange" in definition) {
    return "a message that no endpoint takes is dropped, or stays in its level and stops it, instead of being parked";
  }
  const [[key] = [""]] = Object.entries(definition);
  if (key === "delivery-limit" && isOutOfReach(definition[key])) {
    return "RabbitMQ 4 drops a message, or sends it elsewhere, that was given out 20 times without being settled";
  }
  return `its ${Object.keys(definition).join(", ")} ${Object.keys(definition).length === 1 ? "is" : "are"} not as planned`;
}

/**
 * Finds other people's bindings at a network's exchanges that let messages skip or repeat a part of their delay, or copy them before it is
 * over. Further bindings of the exchange that endpoints are bound to are checked by `auditBroker` and `auditCollisions`.
 */
export function auditShortcuts(network: DelayNetwork, entities: EntityPlan, found: BindingPlan[]): AuditFinding[] {
  const inner = new Set([...entities.exchanges, ...entities.queues].map(({ name }) => name));
  const delivered = new Set(
    found.filter(({ source }) => source === network.bindingExchange).map(({ destination }) => destination),
  );
  return shortcutsOf(entities, found).map(({ source, destination, destinationType, routingKey }): AuditFinding => {
    const isCopy = !inner.has(destination) && destinationType === "queue" && !delivered.has(destination);
    const harm = isCopy
      ? "which so gets a copy of messages before their delay is over"
      : "so that messages skip or repeat a part of their delay, and arrive early or twice";
    return {
      rule: "shortcut",
      severity: isCopy ? "warning" : "error",
      subject: `network ${network.prefix}`,
      message: `exchange ${source} also leads to ${destinationType} ${destination} with the key ${JSON.stringify(routingKey)}, ${harm}; unbind it`,
    };
  });
}
