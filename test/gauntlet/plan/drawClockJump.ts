import type { Random } from "../random";
import type { PlannedFault } from "./types";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * By how much a clock jumps, and for how long: so far ahead that it is doubted, and back before it is believed; a little ahead; far back, and
 * a little.
 */
export function drawClockJump(random: Random): Required<Pick<PlannedFault, "byMs" | "forMs">> {
  const forMs = random.whole(300, 5000);
  switch (random.weighted({ doubted: 3, ahead: 3, back: 3, slightlyBack: 1.5 })) {
    case "doubted":
      return {
        byMs: random.whole(MINUTE_MS + 1000, random.chance(0.5) ? 10 * MINUTE_MS : 12 * HOUR_MS),
        forMs: random.chance(0.3) ? random.whole(5000, 20_000) : forMs,
      };
    case "ahead":
      return { byMs: little(random), forMs };
    case "back":
      return { byMs: -random.whole(2 * MINUTE_MS, HOUR_MS), forMs };
    case "slightlyBack":
      return { byMs: -little(random), forMs };
  }
}

/** Whether it jumps so far ahead that it is doubted. */
export function isDoubtedJump({ byMs = 0 }: Pick<PlannedFault, "byMs">): boolean {
  return byMs > MINUTE_MS;
}

/** Less than a minute, and mostly about as long as messages wait. */
function little(random: Random): number {
  return random.whole(500, random.chance(0.3) ? 30_000 : 5000);
}
