import type { HistoryEvent } from "../history";
import type { Plan } from "../plan/types";
import { checkArrivals, checkPlaces, checkReturns } from "./arrival";
import { checkCopies } from "./copies";
import { checkCancels, checkGivenUp, checkLeftovers } from "./others";
import { checkDelays, checkRetryDelays } from "./time";
import type { Violation } from "./violation";

const checks = [
  checkArrivals,
  checkPlaces,
  checkReturns,
  checkDelays,
  checkRetryDelays,
  checkCopies,
  checkCancels,
  checkGivenUp,
  checkLeftovers,
];

/** All promises that a history breaks. */
export function check(plan: Plan, events: readonly HistoryEvent[]): Violation[] {
  return checks.flatMap((one) => one(plan, events));
}
