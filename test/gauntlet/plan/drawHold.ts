import type { Random } from "../random";
import { drawTimes } from "./drawMessages";
import { HoldPart, publishers } from "./types";

/** Messages that are held, by hold queues of a stack or of the publisher itself. */
export function drawHold(random: Random, name: string): HoldPart {
  const queueType = random.pick(["classic", "quorum"] as const);
  const isDeclared = random.chance(0.5);
  const delaysMs = [...new Set(Array.from({ length: random.whole(1, 4) }, () => random.whole(20, 2500)))];
  const destinations = random.some(["Sales", "Europe.Sales", "1", "a@b/c"], random.whole(1, 3));
  const leaseMs = random.pick([2000, 20_000]);
  const messages = drawTimes(random, random.whole(5, 60)).map((atMs, index) => ({
    n: `${name}-${index}`,
    atMs,
    delayMs: random.pick(delaysMs),
    destination: random.pick(destinations),
    publisher: random.pick(publishers.slice(0, 2)),
    ...(random.chance(0.5) ? { messageId: `id-${name}-${index}` } : {}),
  }));
  return {
    mechanism: "hold",
    name,
    declaredBy: random.pick(["components", "plans"]),
    isDeclared,
    queueType,
    // Only a classic queue's lease is renewed.
    ...(queueType === "classic" && (!isDeclared || random.chance(0.5)) ? { leaseMs } : {}),
    confirmTimeoutMs: leaseMs - 500,
    delaysMs: delaysMs.sort((a, b) => a - b),
    destinations,
    messages,
  };
}
