import type { Random } from "../random";
import { drawClockJump, isDoubtedJump } from "./drawClockJump";
import { WORKLOAD_MS } from "./drawMessages";
import { FaultKind, Part, PlannedFault, PlannedMessage, nodeFaults } from "./types";

/** How likely each fault is, beside the others that are possible. */
export const faultWeights: Record<FaultKind, number> = {
  "broker-killed": 4,
  "broker-stopped": 1.5,
  "power-cut": 3,
  "memory-alarm": 1,
  "disk-alarm": 1,
  "consumer-killed": 3,
  "consumer-stopped": 1.5,
  "consumer-paused": 2,
  "dispatcher-killed": 4,
  "dispatcher-stopped": 1,
  "dispatcher-paused": 1,
  "clock-jump": 1.5,
  "database-killed": 3,
  "database-stopped": 1,
  "database-paused": 2,
  "database-answer-lost": 4,
  "connections-closed": 3,
  "channel-error": 1.5,
  "early-policy": 0.7,
  "short-policy": 0.7,
  unbound: 2.5,
  purged: 1,
};

/** Faults of a round, for its parts; often none, so that a round without one has no excuse. */
export function drawFaults(random: Random, parts: Part[], weights: Partial<Record<FaultKind, number>>): PlannedFault[] {
  const count = random.weighted({ "0": 2, "1": 3, "2": 3, "3": 2, "4": 1 });
  const faults: PlannedFault[] = [];
  for (let index = 0; index < Number(count); index++) {
    const part = random.pick(parts);
    const possible = Object.fromEntries(
      [...nodeFaults, ...possibleFor(part)].map((kind) => [kind, weights[kind] ?? 0]),
    ) as Partial<Record<FaultKind, number>>;
    if (Object.values(possible).every((weight) => weight === 0)) continue;
    const fault = drawFault(random, random.weighted(possible), part);
    // Two of them right after one another would be one that lasts.
    if (!isDoubtedJump(fault) || !faults.some((one) => one.part === fault.part && isDoubtedJump(one)))
      faults.push(fault);
  }
  return faults.sort((a, b) => a.atMs - b.atMs);
}

/** What can hit a part. */
export function possibleFor(part: Part): FaultKind[] {
  const consumer: FaultKind[] = ["consumer-killed", "consumer-stopped", "consumer-paused", "connections-closed"];
  switch (part.mechanism) {
    case "network": {
      const parks = part.network.parking !== false;
      // Without parking, what has no binding waits for minutes in its level, or is lost by classic ones.
      const isUnbindable = parks || part.messages.every(({ delayMs }) => delayMs === 0);
      const unbound: FaultKind[] = isUnbindable ? ["unbound"] : [];
      return [...consumer, ...unbound, "channel-error", "early-policy", "short-policy", "purged"];
    }
    case "retry":
      return consumer;
    case "hold":
      return [...consumer, "channel-error"];
    case "store": {
      const dispatcher: FaultKind[] = ["dispatcher-killed", "dispatcher-stopped", "dispatcher-paused"];
      if (part.database === "network") return [...consumer, ...dispatcher];
      const database: FaultKind[] = ["database-killed", "database-stopped", "database-paused", "database-answer-lost"];
      return [...consumer, ...dispatcher, "clock-jump", ...(part.database === "postgres" ? database : [])];
    }
    case "command":
      return [];
  }
}

function drawFault(random: Random, kind: FaultKind, part: Part): PlannedFault {
  // What is near a message's time, and hits its endpoint, is more likely to catch it on its way.
  const near =
    part.mechanism !== "command" && part.messages.length > 0 && random.chance(0.5)
      ? random.pick<PlannedMessage & { destination?: string }>(part.messages)
      : undefined;
  const endpoint =
    part.mechanism === "network" ? part.endpoints.findIndex(({ name }) => name === near?.destination) : -1;
  const index = random.whole(0, 99);
  const isOfNode = (nodeFaults as readonly FaultKind[]).includes(kind);
  return {
    kind,
    atMs: near === undefined ? random.whole(100, WORKLOAD_MS + 1500) : near.atMs + random.whole(0, 60),
    ...(isOfNode ? {} : { part: part.name }),
    ...(kind === "clock-jump" ? drawClockJump(random) : {}),
    ...(lasting.has(kind) ? { forMs: random.chance(0.4) ? random.whole(5, 200) : random.whole(200, 3000) } : {}),
    ...(repeatable.has(kind) && random.chance(0.4) ? { times: random.whole(2, random.chance(0.3) ? 25 : 6) } : {}),
    ...(indexed.has(kind) ? { index: kind === "unbound" && endpoint >= 0 ? endpoint : index } : {}),
  };
}

const lasting = new Set<FaultKind>([
  "memory-alarm",
  "disk-alarm",
  "consumer-paused",
  "dispatcher-paused",
  "database-paused",
  "early-policy",
  "short-policy",
  "unbound",
]);
const repeatable = new Set<FaultKind>([
  "consumer-killed",
  "consumer-paused",
  "dispatcher-killed",
  "database-answer-lost",
  "connections-closed",
  "unbound",
]);
const indexed = new Set<FaultKind>(["unbound", "purged", "short-policy", "clock-jump"]);
