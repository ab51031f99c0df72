import { QueuePlan, auditQueue, networkOfDelivery } from "rabbitmq-delay-topology";
import type { Cause } from "./cause";
import { Clash, clashesOf } from "./clashes";
import { EntityChange, brokerIdentity, brokerName, queueArguments } from "./entityChange";
import type { Preview } from "./preview";
import { Routing, Unroutable } from "./routing";
import { RuleName, Severity, rules } from "./rules";

/** One danger, or a thing worth knowing, about one entity. */
export interface Finding {
  rule: RuleName;
  severity: Severity;
  /** The resource; by it a danger is accepted. Empty for what is no resource. */
  urn: string;
  /** What it is about, in the field's words, e.g. `queue orders.r4x2u1000.level-00-1`. */
  entity: string;
  /** The component that it belongs to. */
  parent?: string;
  causes: Cause[];
  /** What is special to this one, after the rule's own sentence. */
  detail?: string;
  /** The queue whose messages are in question. */
  queue?: { vhost: string; name: string; arguments: Record<string, unknown> };
  /** Why somebody lets it pass. */
  accepted?: string;
  /** What the broker says of it now. */
  found?: string;
}

/** All that a preview says that somebody should know before it is applied. */
export function findingsOf(preview: Preview, changes: EntityChange[]): Finding[] {
  const routing = new Routing(changes, preview.hasSames);
  const created = new Set(
    changes.filter(({ action }) => action === "create").map((change) => brokerIdentity(change, "after")),
  );
  const isLive = (change: EntityChange): boolean => {
    const identity = brokerIdentity(change, "before");
    return identity !== undefined && created.has(identity);
  };
  const findings = changes.flatMap((change) => judge(change, isLive(change), routing));
  return [...findings, ...clashesOf(changes).map(twice), ...shapeChanges(changes), ...preview.errors.map(failure)];
}

function judge(change: EntityChange, isLive: boolean, routing: Routing): Finding[] {
  const { action, kind } = change;
  if (action === "same" || kind === "component") return [];
  if (kind === "policy") return judgePolicy(change);
  if (action === "create") return judgeCreated(change);
  switch (kind) {
    case "queue":
      return judgeQueue(change, isLive);
    case "exchange":
      return judgeExchange(change, routing);
    case "binding":
      return judgeBinding(change, isLive, routing);
    case "vhost":
      return action === "update" ? [] : [find(change.isRetained ? "queue-kept" : "vhost-deleted", change)];
    case "user":
    case "permissions":
      return change.isRetained && action === "delete" ? [] : [find("access-changed", change)];
    case "provider":
      return change.causes.some(({ property }) => property === "endpoint") ? [find("broker-changed", change)] : [];
    case "other":
      return [find("other-changed", change)];
  }
}

/** What a new resource does to the others: little, unless it is a thing of the broker that nothing is known of, like a shovel. */
function judgeCreated(change: EntityChange): Finding[] {
  if (change.kind === "queue") return riskOf(change);
  return change.kind === "other" && change.type.startsWith("rabbitmq:") ? [find("other-changed", change)] : [];
}

/** Settings of a policy by which a queue loses messages. */
const DROPPING = ["expires", "message-ttl", "max-length", "max-length-bytes"];

function judgePolicy(change: EntityChange): Finding[] {
  const { action, isRetained, before, after } = change;
  if (action === "delete") return isRetained ? [] : [find("policy-changed", change)];
  const [earlier, later] = [before, after].map(
    (values) => (values?.policy as { definition?: Record<string, unknown> } | undefined)?.definition ?? {},
  ) as [Record<string, unknown>, Record<string, unknown>];
  if (DROPPING.some((key) => key in later && later[key] !== earlier[key])) return [find("policy-drops", change)];
  const isOfOurs = change.parent?.includes("rabbitmq-delay:index:") === true;
  const changesNothing = action === "update" && change.causes.length === 0;
  return (action === "create" && isOfOurs) || changesNothing ? [] : [find("policy-changed", change)];
}

/** What a new queue's arguments mean, by the rules that `check` has too. */
function riskOf(change: EntityChange): Finding[] {
  const plan = { name: brokerName(change), durable: true as const, arguments: queueArguments(change.after) };
  return auditQueue(plan as QueuePlan).flatMap(({ rule }): Finding[] => {
    if (rule === "at-most-once") return [{ ...find("queue-at-most-once", change), queue: undefined }];
    return rule === "leased" ? [{ ...find("queue-leased", change), queue: undefined }] : [];
  });
}

function judgeQueue(change: EntityChange, isLive: boolean): Finding[] {
  const { action, isRetained } = change;
  if (action === "update") return [];
  if (action === "delete") {
    if (isRetained) return isLive ? [] : [find("queue-kept", change)];
    return [find(isLive ? "queue-live-deleted" : "queue-deleted", change)];
  }
  return [find(isRetained ? "queue-kept-and-replaced" : "queue-replaced", change)];
}

function judgeExchange(change: EntityChange, routing: Routing): Finding[] {
  const { action, isRetained, before, causes } = change;
  if (action === "update") return causes.length > 0 ? [find("exchange-refused", change)] : [];
  if (isRetained && action === "delete") return [];
  // What dead-letters to an exchange that is not there is no better off than what finds no binding.
  return [find(routing.losesFrom(before?.vhost, String(before?.name)) ? "unroutable-lost" : "exchange-gone", change)];
}

function judgeBinding(change: EntityChange, isLive: boolean, routing: Routing): Finding[] {
  const { action, isRetained, before } = change;
  if (action === "update" || (isRetained && action === "delete")) return [];
  const source = String(before?.source);
  // The exchange's own finding says it.
  if (routing.isDeleted("exchange", before?.vhost, source)) return [];
  const fate = routing.unroutable(before?.vhost, source, change.dependencies);
  if (fate === "lost") return [find("unroutable-lost", change)];
  if (isLive && action === "delete") return [find("binding-live-deleted", change, fates[fate])];
  const isEndpoint = networkOfDelivery(source) !== undefined || change.parent?.includes("EndpointDelayBinding");
  const isGone = action === "delete" || change.after?.source !== source;
  if (!isEndpoint || !isGone) return [find("binding-gone", change, fates[fate])];
  return [{ ...find("endpoint-unbound", change, fates[fate]), entity: `endpoint ${String(before?.destination)}` }];
}

const fates: Record<Unroutable, string> = {
  parked: "The network parks it: it is kept in the parking queue.",
  held: "The queues before it hold it back until there is a way.",
  lost: "It is lost.",
  unknown:
    "Where the network parks what no binding takes, it is kept; this preview does not say (`--show-sames` does).",
};

/** A network of another shape under the same component: its name tells. */
function shapeChanges(changes: EntityChange[]): Finding[] {
  const deliveries = changes.filter(
    ({ kind, before, after }) =>
      kind === "exchange" && networkOfDelivery(String((after ?? before)?.name)) !== undefined,
  );
  return deliveries.flatMap((gone): Finding[] => {
    const successor = deliveries.find((other) => other.action === "create" && other.parent === gone.parent);
    if (gone.action !== "delete" || gone.parent === undefined || successor === undefined) return [];
    const detail = gone.isRetained
      ? "The old network stays on the broker, but its endpoints are bound to the new one: what waits in the old one is parked when it is due, or lost without parking."
      : "The old network is deleted.";
    return [
      {
        ...find("network-changed", gone, detail),
        urn: gone.parent,
        entity: `network ${networkOfDelivery(brokerName(gone))?.prefix}`,
      },
    ];
  });
}

function twice({ change, other }: Clash): Finding {
  const { destination, destinationType, routingKey } = change.after as Record<string, unknown>;
  const detail = `Bound by ${String(routingKey)}, it gets what is for ${other} as well.`;
  return {
    ...find("delivered-twice", change),
    entity: `${String(destinationType)} ${String(destination)}`,
    found: detail,
  };
}

function failure(message: string): Finding {
  return { rule: "preview-failed", severity: rules["preview-failed"].severity, urn: "", entity: message, causes: [] };
}

function find(rule: RuleName, change: EntityChange, detail?: string): Finding {
  const { urn, kind, parent, causes, before } = change;
  const label = kind === "other" ? change.type : kind;
  return {
    rule,
    severity: rules[rule].severity,
    urn,
    entity: `${label} ${brokerName(change)}`,
    parent,
    causes,
    ...(detail === undefined ? {} : { detail }),
    ...(kind === "queue" && rule !== "queue-kept-and-replaced" ? { queue: queueOf(before) } : {}),
  };
}

function queueOf(values: Record<string, unknown> = {}): Finding["queue"] {
  const { vhost, name } = values as { vhost?: string; name?: string };
  return { vhost: vhost ?? "/", name: name ?? "", arguments: queueArguments(values) };
}
