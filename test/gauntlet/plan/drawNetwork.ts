import type { DelayNetworkOptions } from "@rabbitmq-delay/topology";
import type { Random } from "../random";
import { drawDelay, drawTimes } from "./drawMessages";
import { BrokerLine, NetworkMessage, NetworkPart, PlannedEndpoint, publishers } from "./types";

const names = [
  "Sales",
  "Europe.Sales",
  "1",
  "Billing",
  "orders.eu.west",
  "0.1",
  "Sales.Europe",
  "Großhandel",
  "a.b.c.d",
];
const LONGEST_MS = 3000;

/** A network of any preset and shape, endpoints with names that are hard to tell apart, and messages for them. */
export function drawNetwork(random: Random, name: string, broker: BrokerLine): NetworkPart {
  const network = drawOptions(random, broker);
  const unitMs = network.unitMs ?? 1000;
  const endpoints = random.some(names, random.whole(1, 5)).map((endpoint) => drawEndpoint(random, endpoint, network));
  const hasParking = network.parking !== false;
  // Some services send all of their messages by the network, also those that are not delayed.
  const isImmediate = !hasParking && random.chance(0.4);
  const again = random.chance(0.35) ? random.pick([0.2, 0.5, 1]) : 0;
  const times = drawTimes(random, random.whole(10, 120));
  const messages = times.map((atMs, index): NetworkMessage => {
    const endpoint = random.pick(endpoints);
    const isKnown = !hasParking || random.chance(0.9);
    const publisher = random.pick(publishers);
    const isAgain = isKnown && random.chance(again);
    return {
      n: `${name}-${index}`,
      atMs,
      delayMs: isImmediate ? 0 : drawDelay(random, unitMs, isAgain ? 1500 : LONGEST_MS),
      destination: isKnown ? destinationOf(random, endpoint) : `nobody.${endpoint.name}.else`,
      publisher,
      ...(random.chance(0.6) ? { messageId: `id-${name}-${index}` } : {}),
      ...(isAgain ? { again: random.whole(1, 2) } : {}),
    };
  });
  return {
    mechanism: "network",
    name,
    declaredBy: random.pick(["components", "plans"]),
    network,
    endpoints,
    messages: random.chance(isImmediate ? 0.7 : 0.2) ? withImpatience(random, name, messages) : messages,
  };
}

/** Some callers publish the same message, under its id, again and again before they have an answer. */
function withImpatience(random: Random, name: string, messages: NetworkMessage[]): NetworkMessage[] {
  const chosen = random.some(
    messages.filter(({ publisher }) => publisher !== "by-hand"),
    random.whole(1, 3),
  );
  const copies = chosen.flatMap((message) => {
    const everyMs = random.pick([0, 1, 3, 8]);
    const delayMs = random.chance(0.7) ? 0 : message.delayMs;
    return Array.from({ length: random.whole(2, 120) }, (_, index) => ({
      ...message,
      n: `${message.n}.${index}`,
      atMs: message.atMs + index * everyMs,
      messageId: message.messageId ?? `id-${name}-shared`,
      delayMs,
    }));
  });
  return [...messages, ...copies].sort((a, b) => a.atMs - b.atMs);
}

function drawOptions(random: Random, broker: BrokerLine): DelayNetworkOptions {
  const preset = random.weighted({
    custom: 6,
    nservicebus: 1.5,
    celery: 1.5,
    // Its queues have an argument that RabbitMQ 4.3 refuses.
    "nservicebus-v1": broker === "3.10" ? 1 : 0,
  });
  const common = { preset, matching: random.pick(["exact", "exact", "suffix"] as const), parking: random.chance(0.7) };
  if (preset === "celery") return { ...common, ...(random.chance(0.3) ? { prefix: "shop" } : {}) };
  if (preset !== "custom") return common;
  const radix = random.pick([2, 4, 8, 16] as const);
  const unitMs = random.pick([10, 20, 50, 100]);
  const levels = Math.ceil(Math.log(LONGEST_MS / unitMs + 2) / Math.log(radix)) + random.whole(0, 1);
  const queueType = random.chance(0.85) ? ("quorum" as const) : ("classic" as const);
  return { ...common, prefix: random.pick(["orders", "a.b", "Zeit"]), radix, levels, unitMs, queueType };
}

function drawEndpoint(random: Random, name: string, network: DelayNetworkOptions): PlannedEndpoint {
  const hasPatterns = network.matching === "exact" && random.chance(0.25);
  return {
    name,
    type: random.chance(0.7) ? "queue" : "exchange",
    queueType: random.chance(0.85) ? "quorum" : "classic",
    ...(hasPatterns ? { patterns: [`tasks.${name}`, `tasks.*.${name}.last`] } : {}),
  };
}

function destinationOf(random: Random, { name, patterns }: PlannedEndpoint): string {
  return patterns === undefined ? name : random.pick(patterns).replace("*", random.pick(["eu", "us", "0"]));
}
