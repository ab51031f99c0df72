import { BoundPatterns, networkOfDelivery, remainingMs } from "rabbitmq-delay-topology";
import { BrokerUrl, get } from "../managementApi";
import { EntityChange, brokerName } from "./entityChange";
import type { Finding } from "./findings";
import { rules } from "./rules";

/** What the management API says of a queue. */
interface FoundQueue {
  name: string;
  messages?: number;
  consumers?: number;
  /** Seconds since 1970, of messages that have a timestamp. */
  head_message_timestamp?: number | null;
}

interface FoundBinding {
  source: string;
  destination: string;
  destination_type: string;
  routing_key: string;
}

/**
 * Adds what the broker says now: how many messages are in question and until when, endpoints without a consumer, and
 * bindings that no program knows.
 * @throws CommandError for a broker out of reach
 */
export async function addBrokerState(
  findings: Finding[],
  changes: EntityChange[],
  broker: BrokerUrl,
  hasSames: boolean,
  now = new Date(),
): Promise<{ findings: Finding[]; messages: number }> {
  const vhosts = [...new Set(changes.map(({ before, after }) => (before ?? after)?.vhost))].filter(
    (vhost): vhost is string => typeof vhost === "string",
  );
  const queues = new Map<string, FoundQueue>();
  for (const vhost of vhosts) {
    const path = `queues/${encodeURIComponent(vhost)}?columns=name,messages,consumers,head_message_timestamp`;
    for (const queue of (await get<FoundQueue[]>(broker, path)) ?? [])
      queues.set(JSON.stringify([vhost, queue.name]), queue);
  }
  const told = findings.map((finding) => tell(finding, queues, changes, now));
  const messages = told
    .filter(({ severity }) => severity === "loss")
    .reduce((sum, { queue }) => sum + (queues.get(JSON.stringify([queue?.vhost, queue?.name]))?.messages ?? 0), 0);
  const idle = endpointsWithoutConsumer(changes, queues);
  const foreign = hasSames ? await foreignBindings(changes, broker) : [];
  return { findings: [...told, ...idle, ...foreign], messages };
}

function tell(finding: Finding, queues: Map<string, FoundQueue>, changes: EntityChange[], now: Date): Finding {
  const { queue } = finding;
  if (queue === undefined) return finding;
  const found = queues.get(JSON.stringify([queue.vhost, queue.name]));
  const isLoss = finding.severity === "loss";
  if (found === undefined)
    return { ...finding, severity: isLoss ? "note" : finding.severity, found: "it is not on the broker" };
  const { messages } = found;
  // A new queue has no count for some seconds, and one that nobody counted is not empty.
  if (messages === undefined) return { ...finding, found: "not counted yet" };
  if (messages === 0) {
    const text = isLoss
      ? "empty at the last count; what arrives before the update would be lost"
      : "empty at the last count";
    return { ...finding, severity: isLoss ? "care" : finding.severity, found: text };
  }
  const parts = [`${messages} ${messages === 1 ? "message" : "messages"} now`];
  const ttlMs = queue.arguments["x-message-ttl"];
  if (typeof ttlMs === "number") {
    parts.push(`at most ${ttlMs / 1000} s old`);
    const dueMs = now.getTime() + ttlMs + restOf(finding, changes);
    parts.push(`the last is due by ${new Date(dueMs).toISOString()}`);
  } else if (typeof found.head_message_timestamp === "number") {
    parts.push(`the oldest is of ${new Date(found.head_message_timestamp * 1000).toISOString()}`);
  }
  return { ...finding, found: parts.join("; ") };
}

/** What a level queue's messages still wait in lower levels, at most. */
function restOf({ parent, queue }: Finding, changes: EntityChange[]): number {
  const siblings = changes.filter((change) => change.kind === "exchange" && change.parent === parent);
  for (const sibling of siblings) {
    const network = networkOfDelivery(brokerName(sibling));
    const restMs = network === undefined ? 0 : remainingMs(network, queue?.name ?? "");
    if (restMs > 0) return restMs;
  }
  return 0;
}

function endpointsWithoutConsumer(changes: EntityChange[], queues: Map<string, FoundQueue>): Finding[] {
  const destinations = new Map<string, EntityChange>();
  for (const change of changes) {
    const { kind, action, parent, after, before } = change;
    if (kind !== "binding" || action === "delete" || !parent?.includes("EndpointDelayBinding")) continue;
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

/** What is bound at the networks of the program without being in it; worse where it takes an endpoint's messages too. */
async function foreignBindings(changes: EntityChange[], broker: BrokerUrl): Promise<Finding[]> {
  const known = new Set<string>();
  const deliveries = new Map<string, BoundPatterns>();
  for (const { kind, before, after } of changes) {
    for (const values of [before, after]) {
      if (kind !== "exchange" || networkOfDelivery(String(values?.name)) === undefined) continue;
      deliveries.set(JSON.stringify([values?.vhost, values?.name]), new BoundPatterns());
    }
  }
  for (const { kind, before, after } of changes) {
    if (kind !== "binding") continue;
    for (const values of [before, after]) {
      const { vhost, source, destination, routingKey } = values ?? {};
      known.add(JSON.stringify([vhost, source, destination, routingKey]));
    }
    const key = String(after?.routingKey);
    const pattern = { endpoint: String(after?.destination), pattern: key, bindingKey: key };
    if (after !== undefined) deliveries.get(JSON.stringify([after.vhost, after.source]))?.remember(pattern);
  }
  const found: Finding[] = [];
  for (const [delivery, patterns] of deliveries) {
    const [vhost, exchange] = JSON.parse(delivery) as [string, string];
    const path = `exchanges/${encodeURIComponent(vhost)}/${encodeURIComponent(exchange)}/bindings/source`;
    const bindings = (await get<FoundBinding[]>(broker, path)) ?? [];
    for (const { destination, destination_type: type, routing_key: key } of bindings) {
      if (known.has(JSON.stringify([vhost, exchange, destination, key]))) continue;
      const clash = patterns.clashOf({ endpoint: destination, pattern: key, bindingKey: key });
      const isClash = clash !== undefined && clash.endpoint !== destination;
      const rule = isClash ? "delivered-twice" : "foreign-binding";
      found.push({
        rule,
        severity: rules[rule].severity,
        urn: "",
        entity: `${type} ${destination}`,
        causes: [],
        found: `bound to ${exchange} by ${key} on the broker alone${isClash ? `, which takes what is for ${clash.endpoint} too` : ""}`,
      });
    }
  }
  return found;
}
