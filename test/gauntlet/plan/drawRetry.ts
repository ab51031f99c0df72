import type { Random } from "../random";
import { drawTimes } from "./drawMessages";
import type { Behaviour, BrokerLine, RetryMessage, RetryPart, RetryWay } from "./types";

const wayWeights: Record<RetryWay, number> = {
  intervals: 3,
  work: 2,
  network: 2,
  holds: 1.5,
  "holds-on-demand": 2.5,
  "delayed-retry": 2,
};

/** The broker delays by itself from 4.3 on. */
function isThere(way: string, broker: BrokerLine): boolean {
  return way !== "delayed-retry" || broker === "4.3";
}

/** A queue whose handlers fail, hang, block, crash and break their connection, and come back by any of the ways to retry. */
export function drawRetry(random: Random, name: string, broker: BrokerLine, ways?: RetryWay[]): RetryPart {
  const possible = Object.entries(wayWeights).filter(
    ([way]) => ways?.includes(way as RetryWay) ?? isThere(way, broker),
  );
  const way = random.weighted(Object.fromEntries(possible) as Partial<Record<RetryWay, number>>);
  const leaseMs = random.pick([300, 500, 5000]);
  const canRename = way === "intervals" || way === "network";
  const isRenamed = canRename && random.chance(0.35);
  const delaysMs = drawDelays(random, way);
  const handlerTimeoutMs = random.whole(200, 600);
  return {
    mechanism: "retry",
    name,
    way,
    // A plan is made for the queue that is consumed; only a component is told two names.
    declaredBy: isRenamed ? "components" : random.pick(["components", "plans"]),
    queueType: random.chance(0.8) || way === "delayed-retry" ? "quorum" : "classic",
    endpoint: "Orders",
    queue: isRenamed ? "orders-v2" : "Orders",
    ...(isRenamed && way === "network" && random.chance(0.5) ? { patterns: ["tasks.Orders"] } : {}),
    delaysMs,
    immediate: random.pick([0, 0, 0, 1]),
    handlerTimeoutMs,
    blockMs: random.pick([50, 600, 1000]),
    confirmTimeoutMs: way === "holds-on-demand" ? Math.floor(leaseMs * 0.7) : 10_000,
    leaseMs,
    concurrency: random.pick([1, 5, 20]),
    messages: drawMessages(random, name, delaysMs.length),
  };
}

function drawDelays(random: Random, way: RetryWay): number[] {
  if (way === "delayed-retry") {
    const minMs = random.whole(100, 400);
    return Array.from({ length: random.whole(2, 4) }, (_, index) => minMs * (index + 1));
  }
  const count = random.whole(1, 3);
  const delays = Array.from({ length: count }, () => random.whole(40, 900));
  return [...new Set(delays)].sort((a, b) => a - b);
}

function drawMessages(random: Random, name: string, redeliveries: number): RetryMessage[] {
  const style = random.weighted({ mixed: 5, failing: 2, blocking: 2, crashing: 2 });
  return drawTimes(random, random.whole(5, style === "crashing" ? 12 : style === "blocking" ? 20 : 50)).map(
    (atMs, index) => ({
      n: `${name}-${index}`,
      atMs,
      ...(random.chance(0.7) ? { messageId: `id-${name}-${index}` } : {}),
      workMs: random.whole(0, style === "blocking" ? 5 : 30),
      behaviour: index === 0 && style === "crashing" ? drawCrashes(random) : drawBehaviour(random, style, redeliveries),
    }),
  );
}

/** One message may take its consumer down again and again; the messages beside it shall not suffer. */
function drawCrashes(random: Random): Behaviour[] {
  return Array.from({ length: random.whole(2, 30) }, (_, index) =>
    index < 2 && random.chance(0.5) ? "crash" : "drop",
  );
}

function drawBehaviour(random: Random, style: string, redeliveries: number): Behaviour[] {
  const often = random.whole(0, redeliveries + 2);
  if (style === "failing") return Array.from({ length: often }, () => "fail" as const);
  if (style === "blocking") {
    return Array.from({ length: often }, () => random.weighted<Behaviour>({ fail: 6, block: 2, ok: 2 }));
  }
  return Array.from({ length: often }, () =>
    random.weighted<Behaviour>({ fail: 6, hang: 1, ok: 4, block: 0.3, crash: 0.15, drop: 0.2 }),
  );
}
