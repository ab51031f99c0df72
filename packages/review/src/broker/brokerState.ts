import {
  BoundPattern,
  BoundPatterns,
  networkOfDelivery,
  patternsOverlap,
  remainingMs,
  waitMsOf,
} from "@rabbitmq-delay/topology/stack";
import type { BrokerAnswers } from "./brokerAnswers";
import { FoundQueue, FoundQueues, askForQueues, queueKey, unusableAnswer, versionOf } from "./askBroker";
import { isNew } from "../judge/clashes";
import { EntityChange, brokerName, isReadable, mayBeBinding, showName, text } from "../preview/entityChange";
import type { Finding } from "../judge/finding";
import { findingsOf } from "../judge/findings";
import { changesElsewhere } from "../preview/planBroker";
import type { Preview } from "../preview/preview";
import { rules, takesLiveOne } from "../judge/rules";
import { isEndpoint } from "../preview/urn";
import { alreadyThere } from "./alreadyThere";
import { bindingsOfOthers } from "./bindingsOfOthers";
import type { OnBroker } from "../judge/missingTargets";
import { driftOf } from "./drift";
import { withLiveAlternate } from "./liveAlternate";
import { lostByRefresh, withLiveValues } from "./livePolicies";
import { onBrokerAlone } from "./onBrokerAlone";
import { stillBound } from "./stillBound";
import { LiveVhosts, readVhosts } from "./liveVhosts";
import { notCompared } from "./notCompared";
import { takenUsers } from "./takenUsers";
import { withoutSecrets } from "../redact";

interface FoundBinding {
  source: string;
  destination: string;
  destination_type: string;
  routing_key: string;
}

/**
 * Judges a preview beside what only the broker has, and adds what the broker says now: how many messages are in question and until when,
 * endpoints without a consumer, bindings that no program knows, and what of the state the broker does not have.
 * @throws BrokerAnswerError for a broker out of reach, or an answer that can't be right
 */
export async function addBrokerState(
  preview: Preview,
  changes: EntityChange[],
  broker: BrokerAnswers,
  isAccepted: (change: EntityChange) => boolean,
  now = new Date(),
): Promise<{ findings: Finding[]; messages: number }> {
  const isElsewhere = changesElsewhere(changes, broker.managementUrl);
  const here = changes.filter(({ urn }) => !isElsewhere(urn));
  const version = await versionOf(broker);
  const queues = await askForQueues(here, broker);
  const live = await readVhosts(here, broker);
  const known = changes.map((change) => (isElsewhere(change.urn) ? change : withLiveValues(change, live)));
  const onBroker: OnBroker = {
    entities: onBrokerAlone(here, live),
    vhosts: new Set(live.keys()),
    version,
    isElsewhere,
    isKnown: ({ urn, before, after }) =>
      !isElsewhere(urn) && [before ?? after, after ?? before].every((values) => arePoliciesKnown(live, values?.vhost)),
    typeOf: (queue) => {
      const type = live.get(text(queue?.vhost))?.queues.get(text(queue?.name))?.type;
      return type !== undefined && /^(classic|quorum|stream)$/.test(type) ? type : undefined;
    },
  };
  const planned = [...findingsOf(preview, known, onBroker, isAccepted), ...lostByRefresh(preview, known, onBroker)];
  await countAgain(
    planned.filter(({ urn }) => !isElsewhere(urn)),
    queues,
    broker,
  );
  const told = planned.map((finding) =>
    finding.queue !== undefined && isElsewhere(finding.urn)
      ? { ...finding, found: ELSEWHERE }
      : withLiveAlternate(stillBound(tell(finding, queues, here, now), here, live), here, live),
  );
  const messages = messagesAtRisk(
    told.filter(({ found }) => found !== ELSEWHERE),
    queues,
  );
  const foreign = await foreignBindings(here, broker, preview.hasSames);
  return {
    findings: [
      ...told.filter((finding) => !isSettled(finding, here, foreign)),
      ...bindingsOfOthers(here, live),
      ...alreadyThere(here, live),
      ...driftOf(here, live),
      ...endpointsWithoutConsumer(here, queues),
      ...foreign,
      ...(await takenUsers(here, broker)),
      ...notCompared(changes, isElsewhere, preview.isWhole, live),
    ],
    messages,
  };
}

function arePoliciesKnown(live: LiveVhosts, vhost: unknown): boolean {
  const found = live.get(text(vhost));
  return found?.policies !== undefined && found.operatorPolicies !== undefined;
}

/** Whether the broker knows better than the preview which messages a new binding takes: it lists everything that is bound there. */
function isSettled({ unsure, urn, rule }: Finding, changes: EntityChange[], foreign: Finding[]): boolean {
  if (unsure === undefined) return false;
  if (foreign.some((finding) => finding.urn === urn && finding.rule === rule)) return true;
  return unsure === "unlisted" && isReadable(changes.find((change) => change.urn === urn)?.after?.vhost);
}

/** How many messages wait in queues that would lose them; if a whole broker is deleted, all that were counted. */
function messagesAtRisk(findings: Finding[], queues: FoundQueues): number {
  const dangers = findings.filter(({ severity }) => severity === "loss");
  const isAll = dangers.some(({ rule }) => rule === "cluster-deleted" || rule === "namespace-deleted");
  const vhosts = dangers
    .filter(({ rule, entity }) => rule === "vhost-deleted" || (takesLiveOne(rule) && entity.startsWith("vhost ")))
    .map(({ entity }) => entity.slice("vhost ".length));
  const named = new Set(dangers.map(({ queue }) => queueKey(queue?.vhost, queue?.name)));
  return [...queues]
    .filter(([key]) => isAll || named.has(key) || vhosts.includes((JSON.parse(key) as [string])[0]))
    .reduce((sum, [, { messages }]) => sum + (typeof messages === "number" ? messages : 0), 0);
}

/** Counts queues once more that seem to be empty, and would make a deletion safer by it. */
async function countAgain(findings: Finding[], queues: FoundQueues, broker: BrokerAnswers): Promise<void> {
  const byVhost = new Map<string, string[]>();
  for (const { severity, queue } of findings) {
    if (severity !== "loss" || queue === undefined || queues.get(queueKey(queue.vhost, queue.name))?.messages !== 0)
      continue;
    byVhost.set(queue.vhost, [...(byVhost.get(queue.vhost) ?? []), queue.name]);
  }
  for (const [vhost, names] of byVhost) {
    for (const [name, messages] of (await broker.countNow?.(vhost, names)) ?? []) {
      const key = queueKey(vhost, name);
      queues.set(key, { ...(queues.get(key) as FoundQueue), messages, isCountedNow: true });
    }
  }
}

const ELSEWHERE =
  "it is, or may be, on another broker of this plan than the one that was asked, so nobody can tell what it holds";
const NOT_LISTED =
  "the broker that was asked does not list it, so nobody can tell what it holds; where somebody deleted it, pulumi refresh says so";
/** The states of a queue in which its count is up to date. */
const COUNTED = ["running", "idle", "flow"];

function tell(finding: Finding, queues: FoundQueues, changes: EntityChange[], now: Date): Finding {
  const { queue } = finding;
  if (queue === undefined) return finding;
  // A queue whose name nobody can read can't be found; the queue in question may nevertheless be full.
  if (!isReadable(queue.vhost) || !isReadable(queue.name)) {
    return { ...finding, found: "its name or its vhost can't be read, so nobody can count what it holds" };
  }
  const found = queues.get(queueKey(queue.vhost, queue.name));
  const isLoss = finding.severity === "loss";
  // Another broker would not list it either, nor would an answer that was cut short; neither shows that it is empty.
  if (found === undefined) return { ...finding, found: isLoss ? NOT_LISTED : "it is not on the broker" };
  const { messages, state = "running", messages_dlx: stuck = 0 } = found;
  // A new queue has no count for some seconds, and a queue that nobody counted is not empty.
  if (typeof messages !== "number") return { ...finding, found: "not counted yet" };
  if (!COUNTED.includes(state))
    return { ...finding, found: `its state is ${state}, so nobody can count what it holds` };
  // Messages past their time are not counted among the others.
  if (found.consumers === undefined) {
    return {
      ...finding,
      found: `${messages} now; the broker says no more than that, so that nobody can tell how many are overdue; its statistics may be switched off`,
    };
  }
  if (messages === 0 && stuck === 0) {
    const empty = found.isCountedNow === true ? "empty just now" : "empty at the last count";
    // An empty queue that is deleted for good is missed by all messages that are published from then on.
    if (takesLiveOne(finding.rule)) {
      return { ...finding, found: `${empty}; what is published after the update would be lost` };
    }
    const text = isLoss ? `${empty}; what arrives before the update would be lost` : empty;
    return { ...finding, severity: isLoss ? "care" : finding.severity, found: text };
  }
  const parts = [`${messages} ${messages === 1 ? "message" : "messages"} now`];
  const waitMs = waitMsOf(queue.arguments);
  if (stuck > 0) {
    // These messages are past their TTL, and nothing says for how long.
    parts.push(`${stuck} overdue, because nothing takes its dead letters`);
  } else if (waitMs !== undefined) {
    parts.push(`at most ${waitMs / 1000} s old`);
    const dueMs = now.getTime() + waitMs + restOf(finding, changes);
    const isBack = changes.some(({ partOf }) => partOf === "DelayGateway");
    parts.push(
      `the last is due by ${new Date(dueMs).toISOString()}${isBack ? ", or later if a gateway sends it round again" : ""}`,
    );
  } else if (typeof found.head_message_timestamp === "number") {
    parts.push(`the oldest is of ${new Date(found.head_message_timestamp * 1000).toISOString()}`);
  }
  return { ...finding, found: parts.join("; ") };
}

/** How long a level queue's messages still wait in lower levels, at most. */
function restOf({ parent, queue }: Finding, changes: EntityChange[]): number {
  const siblings = changes.filter((change) => change.kind === "exchange" && change.parent === parent);
  for (const sibling of siblings) {
    const network = networkOfDelivery(brokerName(sibling));
    const restMs = network === undefined ? 0 : remainingMs(network, queue?.name ?? "");
    if (restMs > 0) return restMs;
  }
  return 0;
}

function endpointsWithoutConsumer(changes: EntityChange[], queues: FoundQueues): Finding[] {
  const destinations = new Map<string, EntityChange>();
  for (const change of changes) {
    const { kind, action, parent, after, before } = change;
    if (kind !== "binding" || action === "delete" || !isEndpoint(parent)) continue;
    const values = after ?? before;
    if (values?.destinationType === "queue")
      destinations.set(JSON.stringify([values.vhost, values.destination]), change);
  }
  return [...destinations].flatMap(([key, { urn, parent }]): Finding[] => {
    const found = queues.get(key);
    if (found?.consumers !== 0) return [];
    const entity = `endpoint ${found.name}`;
    return [{ rule: "no-consumer", severity: rules["no-consumer"].severity, urn, entity, parent, causes: [] }];
  });
}

/**
 * Finds bindings at delivery exchanges that are not in the program, which are worse if they also take an endpoint's messages. It also finds
 * new bindings that would take messages for a destination that only the broker has, such as another stack's endpoint.
 */
async function foreignBindings(changes: EntityChange[], broker: BrokerAnswers, hasSames: boolean): Promise<Finding[]> {
  const known = new Set<string>();
  const ours = new Set<string>();
  const fresh = new Map<string, EntityChange[]>();
  for (const { kind, before, after } of changes) {
    for (const values of [before, after]) {
      if (kind === "exchange" && isDelivery(values?.name)) ours.add(exchangeKey(values?.vhost, values?.name));
    }
  }
  for (const key of ours) {
    const [vhost, name] = JSON.parse(key) as [unknown, string];
    const network = networkOfDelivery(name);
    // Where matching is enforced, what senders bind to the delivery exchange gets nothing.
    if (network?.matching === "enforced") ours.delete(exchangeKey(vhost, network.deliveryExchange));
  }
  const patterns = new Map([...ours].map((key) => [key, new BoundPatterns()]));
  for (const change of changes.filter(({ kind }) => kind === "binding")) {
    const { before, after } = change;
    for (const values of [before, after]) {
      const { vhost, source, destination, routingKey } = values ?? {};
      known.add(JSON.stringify([vhost, source, destination, routingKey]));
    }
    if (after === undefined) continue;
    const key = exchangeKey(after.vhost, after.source);
    patterns.get(key)?.remember(patternOf(after.destination, after.routingKey));
    if (isNew(change) && isDelivery(after.source)) fresh.set(key, [...(fresh.get(key) ?? []), change]);
  }
  const own = changes.flatMap(({ kind, before, after }) => (kind === "binding" ? [before, after] : []));
  const found: Finding[] = [];
  for (const key of new Set([...(hasSames ? ours : []), ...fresh.keys()])) {
    const [vhost, exchange] = JSON.parse(key) as [string, string];
    const bindings = await bindingsAt(broker, vhost, exchange);
    const foreign = bindings.filter(
      ({ destination, destination_type: destinationType, routing_key: routingKey }) =>
        !known.has(JSON.stringify([vhost, exchange, destination, routingKey])) &&
        // A binding that may be the program's own tells a secret.
        !own.some(
          (values) =>
            values?.destination === destination &&
            mayBeBinding(values, { vhost, source: exchange, destination, destinationType }),
        ),
    );
    // Without the unchanged resources, nobody can say which bindings are in no program.
    if (hasSames && ours.has(key)) {
      found.push(...foreign.map((binding) => judgeForeign(binding, exchange, patterns.get(key) as BoundPatterns)));
    } else found.push(...(fresh.get(key) ?? []).flatMap((change) => judgeFresh(change, foreign)));
  }
  return found;
}

function isDelivery(name: unknown): boolean {
  return isReadable(name) && networkOfDelivery(name) !== undefined;
}

function exchangeKey(vhost: unknown, exchange: unknown): string {
  return JSON.stringify([vhost, exchange]);
}

function patternOf(destination: unknown, routingKey: unknown): BoundPattern {
  const pattern = String(routingKey);
  return { endpoint: String(destination), pattern, bindingKey: pattern };
}

/** The bindings at an exchange now; none if the exchange does not exist yet. */
async function bindingsAt(broker: BrokerAnswers, vhost: string, exchange: string): Promise<FoundBinding[]> {
  const path = `exchanges/${encodeURIComponent(vhost)}/${encodeURIComponent(exchange)}/bindings/source`;
  const found = (await broker.get<FoundBinding[]>(path)) ?? [];
  if (Array.isArray(found) && found.every((binding) => typeof binding?.routing_key === "string")) return found;
  throw unusableAnswer(broker, `its answer about bindings of exchange ${exchange} is no list of them`);
}

function judgeForeign(binding: FoundBinding, exchange: string, patterns: BoundPatterns): Finding {
  const { destination, destination_type: type, routing_key: key } = binding;
  const clash = patterns.clashOf(patternOf(destination, key), ({ endpoint }) => endpoint === destination);
  const isClash = clash !== undefined && clash.endpoint !== destination;
  const rule = isClash ? "delivered-twice" : "foreign-binding";
  const { severity } = rules[rule];
  const found = `bound to ${exchange} by ${withoutSecrets(key)} on the broker alone${isClash ? `, which takes what is for ${clash.endpoint} too` : ""}`;
  return { rule, severity, urn: "", entity: `${type} ${destination}`, causes: [], found };
}

/** Judges a new binding beside those that only the broker has. */
function judgeFresh({ urn, parent, after }: EntityChange, foreign: FoundBinding[]): Finding[] {
  const { destination: own, destinationType, routingKey } = after as Record<string, unknown>;
  const isKnown = isReadable(routingKey);
  const others = foreign.filter(
    ({ destination, routing_key: key }) => destination !== own && (!isKnown || patternsOverlap(key, routingKey)),
  );
  if (others.length === 0) return [];
  const names = [...new Set(others.map((binding) => binding.destination))].sort();
  const rest = names.length > 1 ? ` and ${names.length - 1} more` : "";
  const key = isKnown ? `Bound by ${withoutSecrets(routingKey)}` : "Bound by a key that can't be read";
  const rule = "delivered-twice";
  return [
    {
      rule,
      severity: rules[rule].severity,
      urn,
      entity: `${String(destinationType)} ${showName(own)}`,
      parent,
      causes: [],
      found: `${key}, it ${isKnown ? "gets" : "may get"} what is for ${names[0]}${rest} on the broker as well.`,
    },
  ];
}
