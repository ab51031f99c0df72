import type { BindingPlan, QueuePlan } from "./entities";
import { Endpoint, planBinding } from "./network/endpoint";
import type { DelayTopologyError } from "./errors";
import { describeEnforced } from "./network/enforced";
import { levelQueueName, maximumDestinationBytes } from "./network/levels";
import { utf8Length } from "./names";
import type { DelayNetwork } from "./network/delayNetwork";
import { BoundPatterns, namePair, patternsOverlap } from "./network/topic";

/** How bad a finding is: `error` mixes up or loses messages, `warning` can lose some in a crash or is near a limit. */
export type AuditSeverity = "error" | "warning";

/** Something in a plan that somebody should know. */
export interface AuditFinding {
  rule:
    | "collision"
    | "at-most-once"
    | "not-durable"
    | "leased"
    | "no-parking"
    | "suffix-matching"
    | "installers-refused"
    | "near-limit"
    | "unbound"
    | "missing-endpoint"
    | "missing-network"
    | "missing-queues"
    | "missing-part"
    | "changed-part"
    | "shortcut"
    | "policy"
    | "delivery-limit"
    | "refusing"
    | "broker-fault"
    | "stalled"
    | "consumed"
    | "expiring-delay-queue"
    | "missing-target"
    | "no-target"
    | "parked"
    | "failed-messages"
    | "unknown-network"
    | "unclaimed"
    | "unfinished-enforce"
    | "uncounted"
    | "missing-right";
  severity: AuditSeverity;
  /** What it is about. */
  subject: string;
  /** What is wrong, and how to mend it. */
  message: string;
}

/** A destination that uses more of its room than this is near the limit: a longer name or another level breaks it. */
const NEAR = 0.9;

/** What a queue's arguments mean for the messages in it; the one place where that is judged. */
export function auditQueue({ name, arguments: values }: QueuePlan): AuditFinding[] {
  const subject = `queue ${name}`;
  const findings: AuditFinding[] = [];
  const deadLetters = "x-dead-letter-exchange" in values;
  if (deadLetters && "x-message-ttl" in values && values["x-dead-letter-strategy"] !== "at-least-once") {
    const [why, remedy] =
      values["x-queue-type"] === "quorum"
        ? ["its dead-letter strategy is not at-least-once", "set atLeastOnce: true"]
        : [
            "classic queues can't do otherwise",
            `take queueType quorum${"x-expires" in values ? " without leaseMs" : ""}, and names that no client declares as classic queues`,
          ];
    const message = `passes its messages on at most once (${why}): a crash in that moment loses one; ${remedy}`;
    findings.push({ rule: "at-most-once", severity: "warning", subject, message });
  }
  if ("x-expires" in values) {
    const message =
      "goes with all messages in it when its lease is over; only publishers that declare it before each message may use it";
    findings.push({ rule: "leased", severity: "warning", subject, message });
  }
  return findings;
}

/**
 * What of a network and its endpoints could mix up or lose messages.
 * @param allow pairs of names that may be mixed up by a vendor's clients, see `namePair`
 */
export function auditNetwork(
  network: DelayNetwork,
  endpoints: Endpoint[],
  allow: readonly string[] = [],
): AuditFinding[] {
  const findings: AuditFinding[] = [];
  const subject = `network ${network.prefix}`;
  if (network.queueType === "classic") {
    const remedy = network.preset === "nservicebus-v1" ? "take preset nservicebus" : "take queueType quorum";
    const message = `has classic level queues, which pass messages on at most once: a crash in that moment loses one; ${remedy}`;
    findings.push({ rule: "at-most-once", severity: "warning", subject, message });
  }
  if (network.parkingQueue === undefined) {
    const harm =
      network.queueType === "quorum"
        ? "a message that no endpoint takes stays in its level, and 32 of them stop that level for all"
        : "a message that no endpoint takes is dropped";
    const message = `has no parking: ${harm}; set parking: true`;
    findings.push({ rule: "no-parking", severity: "warning", subject, message });
  }
  if (network.matching === "suffix") {
    const message = "matches by suffix: #.NAME also takes the messages of OTHER.NAME; set matching: exact";
    findings.push({ rule: "suffix-matching", severity: "warning", subject, message });
  }
  const refused = describeEnforced(levelQueueName(network, 0, 1), network.bindingExchange);
  if (refused !== undefined) {
    findings.push({ rule: "installers-refused", severity: "warning", subject, message: refused });
  }
  return [
    ...findings,
    ...collisions(network, endpoints, allow),
    ...endpoints.flatMap((endpoint) => nearLimit(network, endpoint)),
  ];
}

function collisions(network: DelayNetwork, endpoints: Endpoint[], allow: readonly string[]): AuditFinding[] {
  const bound = new BoundPatterns();
  return endpoints.flatMap((endpoint): AuditFinding[] => {
    // A name that can't be is bad input, and thrown.
    const plan = planBinding(network, endpoint);
    try {
      bound.add(plan.bound, allow);
      return [];
    } catch (error) {
      return [
        {
          rule: "collision",
          severity: "error",
          subject: `endpoint ${endpoint.name}`,
          message: (error as DelayTopologyError).message,
        },
      ];
    }
  });
}

function nearLimit(network: DelayNetwork, { name, patterns = [name] }: Endpoint): AuditFinding[] {
  const room = maximumDestinationBytes(network);
  return patterns
    .filter((pattern) => utf8Length(pattern) > room * NEAR)
    .map((pattern) => ({
      rule: "near-limit" as const,
      severity: "warning" as const,
      subject: `endpoint ${name}`,
      message: `${pattern} has ${utf8Length(pattern)} of the ${room} bytes that a destination may have in this network`,
    }));
}

/** What a broker has, as far as an audit compares with it. */
export interface FoundOnBroker {
  /** Bindings of the network's delivery exchange. */
  bindings: BindingPlan[];
  queues: { name: string; durable: boolean; consumers?: number }[];
  exchanges: { name: string; durable: boolean }[];
}

/**
 * What of a broker as it is would mix up or lose the messages of a network and its endpoints.
 * @param isOneOfSeveral whether a lost binding's finding names the network, because there are others
 * @param allow pairs of names that may be mixed up, see `namePair`
 */
export function auditBroker(
  network: DelayNetwork,
  endpoints: Endpoint[],
  found: FoundOnBroker,
  isOneOfSeveral = false,
  allow: readonly string[] = [],
): AuditFinding[] {
  const place = isOneOfSeveral ? `to network ${network.prefix} ` : "";
  const own = endpoints.flatMap((endpoint) => planBinding(network, endpoint).bindings);
  return [
    ...endpoints.flatMap((endpoint) => foreignCollisions(network, endpoint, endpoints, found, allow)),
    ...endpoints.flatMap((endpoint) => auditEndpoint(endpoint, own, found, place)),
  ];
}

/** Other destinations that are bound to a key which a message for this endpoint matches too. */
function foreignCollisions(
  network: DelayNetwork,
  { name, patterns = [name] }: Endpoint,
  endpoints: readonly Endpoint[],
  found: FoundOnBroker,
  allow: readonly string[],
): AuditFinding[] {
  return patterns.flatMap((pattern) => {
    // A message for the pattern has one digit for each level before it, whatever the endpoint's own key takes besides.
    const key = `${"0.".repeat(network.levels)}${pattern}`;
    const isAllowed = (destination: string): boolean => {
      const own = endpoints.find((endpoint) => endpoint.name === destination)?.patterns ?? [];
      return [destination, ...own].some((other) =>
        [namePair(pattern, other), namePair(other, pattern)].some((pair) => allow.includes(pair)),
      );
    };
    return found.bindings
      .filter(
        ({ destination, routingKey }) =>
          destination !== name && patternsOverlap(withoutDigits(routingKey, network.levels), key),
      )
      .filter(({ destination }) => !isAllowed(destination))
      .map(({ destination, destinationType, routingKey }) => ({
        rule: "collision" as const,
        severity: "error" as const,
        subject: `endpoint ${name}`,
        message:
          `${destinationType} ${destination} is bound on the broker with ${routingKey}, and gets its messages for ${pattern} too; ` +
          `unbind it, or bind it exactly`,
      }));
  });
}

/** Replaces each digit in a binding's key by 0, as far as the key has one word for each level: any message may have it. */
function withoutDigits(routingKey: string, levels: number): string {
  const words = routingKey.split(".");
  const hash = words.indexOf("#");
  const end = Math.min(levels, hash === -1 ? levels : hash);
  return words.map((word, index) => (index < end && /^\d+$/.test(word) ? "0" : word)).join(".");
}

function auditEndpoint(
  { name, type = "queue" }: Endpoint,
  own: BindingPlan[],
  found: FoundOnBroker,
  place: string,
): AuditFinding[] {
  const subject = `endpoint ${name}`;
  const entity = (type === "queue" ? found.queues : found.exchanges).find((other) => other.name === name);
  if (entity === undefined) {
    return [
      {
        rule: "missing-endpoint",
        severity: "warning",
        subject,
        message: `there is no ${type} ${name} on the broker yet`,
      },
    ];
  }
  const findings: AuditFinding[] = [];
  if (!entity.durable) {
    const message = `${type} ${name} is not durable: it goes with a restart, and so do its messages`;
    findings.push({ rule: "not-durable", severity: "error", subject, message });
  }
  const missing = own.filter(
    ({ destination, routingKey }) =>
      destination === name &&
      !found.bindings.some((other) => other.destination === name && other.routingKey === routingKey),
  );
  for (const { routingKey } of missing) {
    const message = `is not bound ${place}with ${routingKey}: its delayed messages are parked, or without parking stop a quorum level or are dropped by a classic one`;
    findings.push({ rule: "unbound", severity: "warning", subject, message });
  }
  return findings;
}
