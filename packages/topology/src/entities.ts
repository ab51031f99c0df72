import type { DelayNetwork } from "./network/delayNetwork";
import { digitName, levelQueueName, queueTtlMs } from "./network/levels";
import { waitingArguments } from "./queueKind";

/** A durable exchange. */
export interface ExchangePlan {
  name: string;
  type: "topic" | "fanout" | "direct" | "headers";
  durable: true;
}

/** A durable queue and its arguments, in the broker's own words. */
export interface QueuePlan {
  name: string;
  durable: true;
  arguments: Record<string, string | number | boolean>;
}

/** A binding between a source exchange and a queue or exchange. */
export interface BindingPlan {
  source: string;
  destination: string;
  destinationType: "queue" | "exchange";
  routingKey: string;
  /** What a headers exchange compares, in the broker's own words; none at exchanges of other types. */
  arguments?: Record<string, string | number>;
}

/** A policy, in the broker's own words. */
export interface PolicyPlan {
  name: string;
  /** Regular expression over names. */
  pattern: string;
  applyTo: "exchanges" | "queues" | "quorum_queues";
  priority: number;
  definition: Record<string, string | number>;
}

/** All that a broker must hold for a network, each list in an order in which it can be declared. */
export interface EntityPlan {
  exchanges: ExchangePlan[];
  queues: QueuePlan[];
  bindings: BindingPlan[];
}

/** Plans the entities of a network: where messages arrive, parking, then the levels from the shortest delay up, so that targets come first. */
export function planEntities(network: DelayNetwork): EntityPlan {
  const levels = Array.from({ length: network.levels }, (_, level) => planLevel(network, level));
  const parking = planParking(network);
  return {
    exchanges: [...endsOf(network).map(topic), ...parking.exchanges, ...network.entryExchanges.map(topic)],
    queues: [...parking.queues, ...levels.flatMap((level) => level.queues)],
    bindings: [...parking.bindings, ...levels.flatMap((level) => level.bindings)],
  };
}

/**
 * The policy that sends what no binding takes to the parking exchange; undefined for a network without parking.
 * A policy, because an argument would make the exchanges differ from those that the preset's own clients declare.
 */
export function parkingPolicy(network: DelayNetwork): PolicyPlan | undefined {
  if (network.parkingExchange === undefined) return undefined;
  const names = [...endsOf(network), ...network.entryExchanges];
  const suffixes = names.map((name) => escapeRegex(name.slice(network.prefix.length)));
  return {
    name: network.parkingExchange,
    pattern: `^${escapeRegex(network.prefix)}(${suffixes.join("|")})$`,
    applyTo: "exchanges",
    priority: 100,
    definition: { "alternate-exchange": network.parkingExchange },
  };
}

/**
 * The exchanges at the end of a network: the delivery exchange, and the one that endpoints are bound to where that is another. Vendors'
 * senders bind destinations to the delivery exchange before each delayed send, so that it has to be there even if no message passes it.
 */
function endsOf({ deliveryExchange, bindingExchange }: DelayNetwork): string[] {
  return bindingExchange === deliveryExchange ? [deliveryExchange] : [deliveryExchange, bindingExchange];
}

/** Messages of one digit wait in the digit's queue; those with a 0 go on at once. */
function planLevel(network: DelayNetwork, level: number): Pick<EntityPlan, "queues" | "bindings"> {
  const source = network.entryExchanges[level] as string;
  const next = level === 0 ? network.bindingExchange : (network.entryExchanges[level - 1] as string);
  const before = "*.".repeat(network.levels - 1 - level);
  const digits = Array.from({ length: network.radix - 1 }, (_, index) => index + 1);
  const queues = digits.map((digit) => ({
    name: levelQueueName(network, level, digit),
    durable: true as const,
    arguments: levelArguments(network, queueTtlMs(network, level, digit), next),
  }));
  const bindings: BindingPlan[] = digits.map((digit) => ({
    source,
    destination: levelQueueName(network, level, digit),
    destinationType: "queue",
    routingKey: `${before}${digitName(digit)}.#`,
  }));
  bindings.push({ source, destination: next, destinationType: "exchange", routingKey: `${before}0.#` });
  return { queues, bindings };
}

/** The arguments of a level queue, as each preset's own client declares them: a difference makes its start-up fail. */
function levelArguments(network: DelayNetwork, ttlMs: number, next: string): Record<string, string | number> {
  if (network.queueType === "quorum") {
    return waitingArguments({ queueType: "quorum", atLeastOnce: true }, ttlMs, { exchange: next });
  }
  const wait = { "x-message-ttl": ttlMs, "x-dead-letter-exchange": next };
  if (network.preset === "celery") return { "x-queue-type": "classic", "x-overflow": "reject-publish", ...wait };
  if (network.preset === "nservicebus-v1") return { "x-queue-mode": "lazy", ...wait };
  return { "x-queue-type": "classic", ...wait };
}

function planParking(network: DelayNetwork): EntityPlan {
  const { parkingExchange, parkingQueue } = network;
  if (parkingExchange === undefined || parkingQueue === undefined) return { exchanges: [], queues: [], bindings: [] };
  return {
    exchanges: [{ name: parkingExchange, type: "fanout", durable: true }],
    queues: [{ name: parkingQueue, durable: true, arguments: { "x-queue-type": network.queueType } }],
    bindings: [{ source: parkingExchange, destination: parkingQueue, destinationType: "queue", routingKey: "" }],
  };
}

function topic(name: string): ExchangePlan {
  return { name, type: "topic", durable: true };
}

/** What a binding is told by: two of one identity are one on the broker. */
export function bindingIdentity({ source, destination, destinationType, routingKey, ...more }: BindingPlan): string {
  const values = Object.entries(more.arguments ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([source, destinationType, destination, routingKey, ...values]);
}

/** A text as a part of a regular expression that matches it alone. */
export function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
