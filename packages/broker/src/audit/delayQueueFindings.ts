import { describeDelay, BindingPlan } from "@rabbitmq-delay/topology";
import { AuditFinding, appliesTo, networkOfDelivery, topicMatches } from "@rabbitmq-delay/topology/stack";
import type { QueueOnBroker, VhostOnBroker } from "./brokerFindings";

/** A setting of a queue: for a number the lower of argument and policy, for everything else the argument before the policy. */
function settingOf(
  { arguments: values, effective_policy_definition: policy = {} }: QueueOnBroker,
  key: string,
): unknown {
  const [argument, given] = [values[`x-${key}`], policy[key]];
  return typeof argument === "number" && typeof given === "number" ? Math.min(argument, given) : (argument ?? given);
}

/** Finds delay queues, whoever declared them, that lose their messages. */
export function auditDelayQueues(found: VhostOnBroker): AuditFinding[] {
  const targets = new Targets(found);
  return found.queues.flatMap((queue) => [...auditExpiry(queue), ...auditTarget(queue, targets)]);
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Whether a queue takes messages on one day alone, as Symfony's `daily_delay_queues` names it, and outlasts the last of them. */
function isOfOneDay(name: string, ttlMs: number, expiresMs: number): boolean {
  return /_\d{4}-\d{2}-\d{2}$/.test(name) && expiresMs > ttlMs + DAY_MS;
}

/** Finds queues that the broker deletes before their messages' time is up; it passes none of these messages on. */
function auditExpiry(queue: QueueOnBroker): AuditFinding[] {
  const [ttlMs, expiresMs] = [settingOf(queue, "message-ttl"), settingOf(queue, "expires")];
  if (typeof expiresMs !== "number") return [];
  const isDelaying = settingOf(queue, "dead-letter-exchange") !== undefined && (queue.consumers ?? 0) === 0;
  const goes = `expires ${describeDelay(expiresMs)} after its last use, with the messages that wait in it`;
  const finding = (severity: AuditFinding["severity"], message: string): AuditFinding[] => [
    { rule: "expiring-delay-queue", severity, subject: `queue ${queue.name}`, message },
  ];
  if (typeof ttlMs === "number" && queue.type === "quorum") {
    if (isOfOneDay(queue.name, ttlMs, expiresMs)) return [];
    return finding(
      "error",
      `is a quorum queue that ${goes} for ${describeDelay(ttlMs)}: declaring it again does not renew a quorum queue; make it ` +
        `classic, or take its expiry away; in Symfony, daily_delay_queues: true declares a queue for each day`,
    );
  }
  if (typeof ttlMs === "number" && isDelaying && expiresMs <= ttlMs) {
    return finding(
      "error",
      `${goes} for ${describeDelay(ttlMs)}, which is no shorter: the last ones never leave it; give it a longer expiry, or none`,
    );
  }
  // The messages themselves say how long they wait.
  if (ttlMs === undefined && isDelaying && queue.type === "quorum") {
    return finding(
      "warning",
      `is a quorum queue that ${goes}, and nothing consumes it: a message whose own expiration is longer is lost; make it ` +
        `classic and declare it before each message, or take its expiry away`,
    );
  }
  return [];
}

/** Finds queues whose messages have nowhere to go when their time is up. */
function auditTarget(queue: QueueOnBroker, targets: Targets): AuditFinding[] {
  const [ttlMs, target] = [settingOf(queue, "message-ttl"), settingOf(queue, "dead-letter-exchange")];
  if (typeof ttlMs !== "number") return [];
  const subject = `queue ${queue.name}`;
  if (target === undefined) {
    // A queue that nobody reads and that does not expire looks like a delay queue, but may be meant to drop messages.
    if (queue.consumers !== 0 || settingOf(queue, "expires") !== undefined) return [];
    const message =
      `drops its messages after ${describeDelay(ttlMs)}: it has no dead-letter exchange, and nothing consumes it; give it one, if ` +
      `they are only to wait`;
    return [{ rule: "no-target", severity: "warning", subject, message }];
  }
  if (typeof target !== "string") return [];
  const key = settingOf(queue, "dead-letter-routing-key");
  if (target === "" && key === queue.name) {
    const message =
      "passes its messages on to itself: the broker drops what comes back so, by its expiry alone; give it another target, or a queue " +
      "between that a consumer empties";
    return [{ rule: "missing-target", severity: "error", subject, message }];
  }
  const missing = targets.missing(target, key);
  if (missing === undefined) return [];
  const isKept = queue.type === "quorum" && settingOf(queue, "dead-letter-strategy") === "at-least-once";
  const harm = isKept ? "they stay, and stop the queue for all" : "each is lost when its time is up";
  const message = `passes its messages on to ${missing.what}: ${harm}; ${missing.remedy}`;
  return [{ rule: "missing-target", severity: "error", subject, message }];
}

/** Where the messages of a vhost can go. */
class Targets {
  private readonly queues: ReadonlySet<string>;
  private readonly exchanges: ReadonlyMap<string, VhostOnBroker["exchanges"][number]>;
  private readonly keys = new Map<string, Set<string>>();
  private readonly policies: NonNullable<VhostOnBroker["policies"]>;

  constructor({ queues, exchanges, bindings, policies = [] }: VhostOnBroker) {
    this.queues = new Set(queues.map(({ name }) => name));
    this.exchanges = new Map(exchanges.map((exchange) => [exchange.name, exchange]));
    this.policies = policies.filter(
      ({ isOperator, definition }) => !isOperator && definition["alternate-exchange"] !== undefined,
    );
    for (const { source, routingKey } of bindings) this.keysOf(source).add(routingKey);
  }

  /** Says what a target lacks, and how to mend it; undefined if something takes the messages, or may take them. */
  missing(exchange: string, key: unknown): { what: string; remedy: string } | undefined {
    if (exchange === "") {
      // Without a key of the queue, each message's own key counts.
      if (typeof key !== "string" || this.queues.has(key)) return undefined;
      return { what: `queue ${key}, which is not there`, remedy: "declare the queue" };
    }
    const found = this.exchanges.get(exchange);
    if (found === undefined) {
      return { what: `exchange ${exchange}, which is not there`, remedy: "declare the exchange" };
    }
    if (this.isDeadEnd(found)) {
      return { what: `exchange ${exchange}, to which nothing is bound`, remedy: "bind something to it" };
    }
    if (typeof key !== "string" || this.mayRoute(found, key)) return undefined;
    const named = JSON.stringify(key);
    return {
      what: `exchange ${exchange} with the key ${named}, with which it leads nowhere`,
      remedy: `bind something to it with ${named}`,
    };
  }

  /** Whether an exchange leads nowhere, whatever the key; a network's delivery exchange without endpoints is checked elsewhere. */
  private isDeadEnd({ name, type, arguments: values }: VhostOnBroker["exchanges"][number]): boolean {
    const isPlain = ["direct", "topic", "fanout", "headers"].includes(type ?? "");
    if (!isPlain || networkOfDelivery(name) !== undefined || this.keysOf(name).size > 0) return false;
    return values?.["alternate-exchange"] === undefined && !this.policies.some((policy) => appliesTo(policy, name));
  }

  private mayRoute({ name, type, arguments: values }: VhostOnBroker["exchanges"][number], key: string): boolean {
    const hasAlternate =
      values?.["alternate-exchange"] !== undefined || this.policies.some((policy) => appliesTo(policy, name));
    if (hasAlternate) return true;
    const keys = this.keysOf(name);
    if (type === "direct") return keys.has(key);
    if (type === "topic") return [...keys].some((pattern) => topicMatches(pattern, key));
    // It is not known which keys a headers exchange or a plugin's type takes.
    return keys.size > 0 || !(type === "fanout" || type === "headers");
  }

  private keysOf(source: BindingPlan["source"]): Set<string> {
    const known = this.keys.get(source) ?? new Set<string>();
    this.keys.set(source, known);
    return known;
  }
}
