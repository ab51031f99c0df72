import type { QueuePlan } from "@rabbitmq-delay/topology";
import { auditQueue, componentOf, matchingChangeOf, networkOfDelivery } from "@rabbitmq-delay/topology/stack";
import { causesOf } from "../preview/cause";
import {
  EntityChange,
  EntityKind,
  brokerIdentity,
  brokerName,
  isMadeAnew,
  isReadable,
  isRenamed,
  queueArguments,
} from "../preview/entityChange";
import { isEndpoint, nameOf, parseUrn, typeOf } from "../preview/urn";
import { judgeClusterPart, judgeForeignHolder, looksLikeBroker } from "./clusterFindings";
import { Finding, find } from "./finding";
import type { Policies } from "./policyFindings";
import { judgeProvider } from "./providerFindings";
import type { Routing, Unroutable } from "./routing";
import type { RuleName } from "./rules";

/** Finds another resource of the same entity, by one side of a change. */
export type Same = (change: EntityChange, of: "before" | "after") => EntityChange | undefined;

/** Everything beside a single change by which it is judged. */
export interface Surroundings {
  routing: Routing;
  policies: Policies;
  /** Resources that are declared anew. */
  created: EntityChange[];
  /** The resource that has an entity already, or that still has it after the update. */
  existingAs: Same;
  stayingAs: Same;
  /** Namespaces of Kubernetes in which the program has clusters. */
  namespaces: Set<string>;
}

/** Judges one change by itself, in its surroundings. */
export function judge(change: EntityChange, surroundings: Surroundings): Finding[] {
  const own = judgeAlone(change, surroundings);
  const twin = own.some(({ rule }) => rule === "declared-otherwise") ? undefined : secondOf(change, surroundings);
  return twin === undefined ? own : [...own, find("declared-twice", change, `The other one is ${nameOf(twin.urn)}.`)];
}

/** Another resource that is the same thing on the broker as a new one, after the update; components see to those that they share. */
function secondOf(change: EntityChange, { stayingAs }: Surroundings): EntityChange | undefined {
  if (!isMadeAnew(change)) return undefined;
  const twin = stayingAs(change, "after");
  return twin?.partOf !== undefined && change.partOf !== undefined ? undefined : twin;
}

/** Rules, one for each kind: a kind without one does not compile. */
function judgeAlone(change: EntityChange, surroundings: Surroundings): Finding[] {
  const { action, kind } = change;
  if (action === "same") return change.isReleased && kind !== "component" ? [find("no-longer-kept", change)] : [];
  const { routing, policies } = surroundings;
  if (change.isImportRefused) return [{ ...find("import-refused", change), queue: undefined }];
  if (action === "create" && kind !== "policy") return judgeCreated(change, surroundings);
  const twin = surroundings.stayingAs(change, "before");
  const isStaying = twin !== undefined;
  const taken = judgeDeletedAtEnd(change, twin);
  if (taken !== undefined) return [taken];
  switch (kind) {
    case "component":
      return [];
    case "policy": {
      const judgement = policies.judge(change);
      return judgement === undefined ? [] : [find(judgement.rule, change, judgement.detail)];
    }
    case "queue":
      return judgeQueue(change, isStaying, routing);
    case "exchange":
      return judgeExchange(change, isStaying, routing);
    case "binding":
      return judgeBinding(change, isStaying, routing);
    case "vhost":
      return judgeVhost(change);
    case "user":
    case "permissions":
    case "password":
      return change.isRetained && action === "delete" ? [] : [find("access-changed", change)];
    case "provider": {
      const rule = judgeProvider(change);
      return rule === undefined ? [] : [find(rule, change)];
    }
    case "namespace":
    case "cluster":
    case "nodes":
    case "volume":
    case "secret":
    case "definition":
    case "surroundings":
    case "other": {
      const rule = judgeElsewhere(change, surroundings);
      return rule === undefined ? [] : [find(rule, change)];
    }
  }
}

/**
 * Judges what the update deletes at its end, although another resource, or the new side of the same one, then stands for it: on RabbitMQ,
 * creating what exists does nothing, and deleting goes by the name.
 * @param twin another resource that is the same on the broker after the update
 */
function judgeDeletedAtEnd(change: EntityChange, twin: EntityChange | undefined): Finding | undefined {
  if (change.isRetained || (change.action !== "delete" && change.action !== "replace")) return undefined;
  if (twin !== undefined) {
    const isMade = twin.action === "create" || twin.action === "replace";
    return { ...find(isMade ? "live-deleted" : "twin-deleted", change), alias: aliasOf(change, twin) };
  }
  return isReplacedByItself(change) ? find("replaced-by-itself", change) : undefined;
}

/** Whether the old side is deleted after the new side was created, and both are the same on the broker. */
function isReplacedByItself(change: EntityChange): boolean {
  const { action, kind, causes, isDeletedFirst = false } = change;
  if (action !== "replace" || !staysTheSame(change)) return false;
  // With other settings, the provider asks for a queue's deletion first, and the broker refuses the new exchange.
  if ((kind === "queue" || kind === "exchange") && causes.length > 0) return false;
  return !isDeletedFirst;
}

/** Whether both sides are the same on the broker; where they can't be read, because the engine finds no difference. */
function staysTheSame(change: EntityChange): boolean {
  const [from, to] = [brokerIdentity(change, "before"), brokerIdentity(change, "after")];
  if (from !== undefined || to !== undefined) return from === to;
  const { before, after, reasons = [] } = change;
  return onBrokerKinds.has(change.kind) && reasons.length === 0 && JSON.stringify(before) === JSON.stringify(after);
}

const onBrokerKinds: ReadonlySet<EntityKind> = new Set([
  "queue",
  "exchange",
  "binding",
  "policy",
  "permissions",
  "user",
  "vhost",
]);

/** The alias by which the engine knows a renamed resource: of the component of ours that names its parts itself, or of the resource. */
function aliasOf(old: EntityChange, now: EntityChange): string {
  const [before, after] = [old, now].map(({ urn, parent }) =>
    parent !== undefined && componentOf(typeOf(parent)) !== undefined ? parent : urn,
  ) as [string, string];
  const [from, to] = [before, after].map((urn) => parseUrn(urn)?.types.slice(0, -1) ?? []) as [string[], string[]];
  if (from.join("$") === to.join("$")) return `{ name: ${JSON.stringify(nameOf(before))} }`;
  return from.length === 0
    ? `{ name: ${JSON.stringify(nameOf(before))}, parent: pulumi.rootStackResource }`
    : JSON.stringify(before);
}

/**
 * Judges resources that are not on the broker: a part of this project's components, something that looks like a broker, or anything else.
 */
function judgeElsewhere(change: EntityChange, { namespaces }: Surroundings): RuleName | undefined {
  const { action, isRetained, kind, partOf, before } = change;
  if (partOf !== undefined && kind !== "other") return judgeClusterPart(change);
  const { name, namespace } = metadataOf(before);
  const holdsCluster =
    (kind === "namespace" && namespaces.has(String(name))) || (kind === "volume" && namespaces.has(String(namespace)));
  if (holdsCluster || looksLikeBroker(change)) return judgeForeignHolder(change);
  if (isRetained && action === "delete") return "resource-kept";
  return "other-changed";
}

export function metadataOf(values: Record<string, unknown> | undefined): { name?: unknown; namespace?: unknown } {
  const metadata = values?.metadata;
  return typeof metadata === "object" && metadata !== null ? metadata : {};
}

/** Whether a retained old side stays beside whatever the update creates: it leaves the program, or surely gets another name. */
function isLeftBehind(change: EntityChange): boolean {
  const isRead = brokerIdentity(change, "before") !== undefined && brokerIdentity(change, "after") !== undefined;
  return change.isRetained && (change.action === "delete" || (isRead && isRenamed(change)));
}

function judgeVhost(change: EntityChange): Finding[] {
  const { action, isRetained, causes, before, after } = change;
  if (action === "update") return causes.length > 0 || !before || !after ? [find("other-changed", change)] : [];
  if (isRetained) return [find(isLeftBehind(change) ? "resource-kept" : "resource-kept-and-replaced", change)];
  return [find("vhost-deleted", change)];
}

/** An entity that another provider declares from now on may be looked for on another broker. */
export function judgeOtherProvider(change: EntityChange): Finding[] {
  const { otherProvider, action, type } = change;
  if (otherProvider === undefined || !type.startsWith("rabbitmq:") || action === "create" || action === "delete")
    return [];
  const isDefault = Object.values(otherProvider).every((urn) => /^default(_[\w.]*)?$/.test(nameOf(urn)));
  return isDefault ? [] : [find("broker-changed", change)];
}

/** Judges a new resource, which does little to the others, unless it is an unknown thing on the broker, like a shovel. */
function judgeCreated(change: EntityChange, { created, existingAs }: Surroundings): Finding[] {
  const there = existingAs(change, "after");
  if (there !== undefined && isDeclaredOtherwise(there, change)) {
    // The broker refuses the new one because of its own arguments.
    const causes = causesOf(there.before, change.after);
    return [{ ...find("declared-otherwise", change), causes, alias: aliasOf(there, change) }];
  }
  if (change.kind === "queue") return riskOf(change);
  if (change.kind === "permissions" && !isForNewUser(change, created)) {
    const detail =
      "The user may be there already: then these rights take the place of those that it has in the vhost, and topic permissions take " +
      "away what they do not name.";
    return [find("access-changed", change, detail)];
  }
  if (change.kind !== "other") return [];
  if (RUNNING.test(change.type)) {
    return [find("other-changed", change, "It runs when it is made, and may do anything to the broker.")];
  }
  return change.type.startsWith("rabbitmq:") ? [find("other-changed", change)] : [];
}

/** Types of resources that are not things but run something: commands, jobs, and a program's dynamic resources. */
const RUNNING = /^command:|^kubernetes:batch\/|^pulumi-\w+:dynamic[:/]/;

/** Whether a user is created together with its rights, so that these take none away. */
function isForNewUser({ after, parent }: EntityChange, created: EntityChange[]): boolean {
  const name = after?.user;
  return created.some(
    (user) =>
      user.kind === "user" &&
      (isReadable(name) ? user.after?.name === name : parent !== undefined && user.parent === parent),
  );
}

/** Whether two resources are one queue or exchange on the broker, with settings that contradict each other. */
function isDeclaredOtherwise(there: EntityChange, change: EntityChange): boolean {
  if (there.urn === change.urn || !["queue", "exchange"].includes(change.kind)) return false;
  return causesOf(there.before, change.after).length > 0;
}

/** Judges a new queue's arguments by the rules that `check` also uses. */
function riskOf(change: EntityChange): Finding[] {
  const plan = { name: brokerName(change), durable: true as const, arguments: queueArguments(change.after) };
  return auditQueue(plan as QueuePlan).flatMap(({ rule }): Finding[] => {
    if (rule === "at-most-once") return [{ ...find("queue-at-most-once", change), queue: undefined }];
    return rule === "leased" ? [{ ...find("queue-leased", change), queue: undefined }] : [];
  });
}

function judgeQueue(change: EntityChange, isStaying: boolean, routing: Routing): Finding[] {
  const { action } = change;
  if (action === "update") return unknownUpdate(change);
  if (isLeftBehind(change)) return isStaying ? [] : [find(isOfProcess(change) ? "intake-kept" : "queue-kept", change)];
  const feeder =
    action === "delete" || isRenamed(change)
      ? routing.feederOfQueue(change.before?.vhost, change.before?.name)
      : undefined;
  const unroutable =
    feeder === undefined ? [] : [{ ...find("unroutable-lost", change, passesOn(feeder)), queue: undefined }];
  return [find(replacementRule(change), change), ...unroutable];
}

/** The rule of a queue that is deleted, or declared anew. */
function replacementRule(change: EntityChange): RuleName {
  const { action, isRetained } = change;
  if (action === "delete") return "queue-deleted";
  const [from, to] = [queueArguments(change.before), queueArguments(change.after)];
  if (matchingChangeOf(from, to) !== undefined) return "matching-changed";
  if (!isRetained && isTypeLeftOut(change)) return "queue-type-left-out";
  return isRetained ? "queue-kept-and-replaced" : "queue-replaced";
}

/** Whether the only difference is the type that the broker has given the queue by itself. */
function isTypeLeftOut({ causes }: EntityChange): boolean {
  return (
    causes.length > 0 && causes.every(({ property, after }) => property.endsWith("x-queue-type") && after === "nothing")
  );
}

function passesOn(feeder: string): string {
  return `${feeder}, which stays, passes its messages on to it.`;
}

/** An update that this version of the provider never makes: nobody knows what it would do to the entity. */
function unknownUpdate(change: EntityChange): Finding[] {
  const { causes, before, after } = change;
  return causes.length > 0 || before === undefined || after === undefined ? [find("other-changed", change)] : [];
}

/** Whether a process takes messages from it, or by it: all of a store or a gateway but what has failed. */
function isOfProcess(change: EntityChange): boolean {
  const component = change.parent === undefined ? undefined : componentOf(typeOf(change.parent));
  const isBeside = /\.error$|^rabbitmq-delay\.owner-of-/.test(brokerName(change));
  return (component === "DelayedMessageStore" || component === "DelayGateway") && !isBeside;
}

function judgeExchange(change: EntityChange, isStaying: boolean, routing: Routing): Finding[] {
  const { action, isRetained, before, after, causes } = change;
  if (action === "update") {
    return causes.length > 0 || before === undefined || after === undefined ? [find("exchange-refused", change)] : [];
  }
  if (isLeftBehind(change)) {
    if (!isStaying && isOfProcess(change) && routing.isLedOn(change)) return [find("intake-kept", change)];
    return action === "delete" ? [] : [find("resource-kept", change)];
  }
  if (isRetained) return [find("resource-kept-and-replaced", change)];
  // A claim is deleted with the login or the endpoint, whose own finding says so; nothing is published to a claim.
  if (String(before?.name).startsWith("rabbitmq-delay.owner-of-")) return [];
  const alternateOf = routing.alternateOf(before?.vhost, String(before?.name));
  if (alternateOf !== undefined) {
    const detail = `It is the alternate exchange of ${alternateOf}, which stays: what finds no binding there is lost without it.`;
    return [find("unroutable-lost", change, detail)];
  }
  // Messages dead-lettered to a missing exchange are no better off than messages without a binding.
  const feeder = routing.losingFeeder(before?.vhost, String(before?.name));
  if (feeder !== undefined) return [find("unroutable-lost", change, passesOn(feeder))];
  const isRefused =
    action === "replace" && change.isDeletedFirst === false && causes.length > 0 && staysTheSame(change);
  return [find(isRefused ? "exchange-refused" : "exchange-gone", change)];
}

function judgeBinding(change: EntityChange, isStaying: boolean, routing: Routing): Finding[] {
  const { action, isRetained, before } = change;
  if (action === "update") return unknownUpdate(change);
  // It stays on the broker, beside the one that takes its place; of what leaves with its ends, these have findings of their own.
  if (isRetained) return isStaying || routing.leaves(before) ? [] : [find("binding-kept", change)];
  if (routing.isCovered(change)) return [];
  const source = String(before?.source);
  // The exchange has a finding of its own.
  if (routing.isDeleted("exchange", before?.vhost, source)) return [];
  const fate = routing.unroutable(change);
  const told = fate === "parked" && networkOfDelivery(source) === undefined ? PASSED_ON : fates[fate];
  if (fate === "lost") return [find("unroutable-lost", change)];
  const parked = fate === "parked" ? { isParked: true } : {};
  const isOfEndpoint = networkOfDelivery(source) !== undefined || isEndpoint(change.parent);
  const isGone = action === "delete" || change.after?.source !== source;
  if (!isOfEndpoint || !isGone) return [{ ...find("binding-gone", change, told), ...parked }];
  const entity = `endpoint ${String(before?.destination)}`;
  return [{ ...find("endpoint-unbound", change, told), entity, ...parked }];
}

const PASSED_ON = "The alternate exchange of the exchange that it is bound to takes it.";

const fates: Record<Unroutable, string> = {
  parked: "The network parks it: it is kept in the parking queue.",
  held: "The queues before it hold back what comes out of them until there is a way; what is published to it with that key is dropped.",
  dropped:
    "No queue passes messages on to the exchange; what is published to it with that key is dropped from then on.",
  lost: "It is lost.",
  unknown:
    "Where the network parks what no binding takes, or an alternate exchange passes it on, it is kept; this preview does not say " +
    "(`--show-sames` says what this stack declares).",
};
