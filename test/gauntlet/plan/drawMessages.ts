import type { Random } from "../random";

/** How long the workload publishes. */
export const WORKLOAD_MS = 4000;

/** Times of a number of messages: spread, in bursts, or both. */
export function drawTimes(random: Random, count: number): number[] {
  const style = random.weighted({ spread: 4, bursts: 3, both: 3 });
  const bursts = Array.from({ length: random.whole(1, 4) }, () => random.whole(0, WORKLOAD_MS));
  return Array.from({ length: count }, () =>
    style === "spread" || (style === "both" && random.chance(0.5)) ? random.whole(0, WORKLOAD_MS) : random.pick(bursts),
  ).sort((a, b) => a - b);
}

/** A delay in milliseconds: often none or short, of any value where the unit is small. */
export function drawDelay(random: Random, unitMs: number, longestMs: number): number {
  if (random.chance(0.1)) return 0;
  if (unitMs >= 1000) return random.whole(1, Math.max(1, Math.floor(longestMs / unitMs))) * unitMs;
  return random.whole(1, random.chance(0.3) ? Math.min(300, longestMs) : longestMs);
}
