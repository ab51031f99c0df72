import { Faulted, HistoryEvent, eventsOf } from "../history";
import type { StoreMessage, StorePart } from "../plan/types";
import { plannedMessage } from "./expectation";
import type { Lifetime } from "./lifetimes";

/** How far ahead a clock may jump without being doubted, as docs/store-limits.md says. */
export const TOLERATED_JUMP_MS = 60_000;
/** How long a larger jump ahead is doubted; putting right a clock that was back is one, too. */
const DOUBT_MS = 30_000;
/** A store that has nothing to do looks at its clock at least so often. */
const LOOK_MS = 30_000;
/** From a clock's being put right until it is believed and acted upon: a look that doubts it, one that believes it, and one to spare. */
const RECOVERY_MS = 2 * LOOK_MS + DOUBT_MS;

/** Whether a jump is so large that it, or its end, is doubted. */
export function isDoubted(byMs: number): boolean {
  return Math.abs(byMs) > TOLERATED_JUMP_MS;
}

/** When messages that a clock's jump has made late are through. */
export function throughAt({ fault, until, byMs = 0 }: Faulted): number {
  if (fault !== "clock-jump" || !Number.isFinite(until)) return 0;
  if (isDoubted(byMs)) return until + RECOVERY_MS;
  // What was taken in while the clock was ahead is due by that clock.
  return until + Math.max(0, byMs);
}

/** By how much clocks that jumped may have made a message early: by their size, and only where that is what such a jump does. */
export function earlyByClocksMs(lifetime: Lifetime, firstAt: number, events: readonly HistoryEvent[]): number {
  const { part } = lifetime;
  if (part.mechanism !== "store") return 0;
  return jumpsOf(part, events)
    .filter((jump) => mayMakeEarly(jump, part, lifetime, firstAt, events))
    .reduce((sum, { byMs = 0 }) => sum + Math.abs(byMs), 0);
}

function mayMakeEarly(
  { at, until, byMs = 0 }: Faulted,
  part: StorePart,
  { n, from }: Lifetime,
  firstAt: number,
  events: readonly HistoryEvent[],
): boolean {
  if (firstAt < at) return false;
  // A little ahead, it is believed at once; far ahead, it is put right before it is believed.
  if (byMs > 0) return from <= until && !isDoubted(byMs);
  // While it is back, a delay from the intake on ends by a time that is back, too; a time that was given does not.
  if ((plannedMessage(part, n) as StoreMessage).by === "x-deliver-at") return false;
  if (!isDoubted(byMs)) return from <= until;
  if (from > until + RECOVERY_MS) return false;
  // Another instance, and a process that has just started, believe the right time already.
  return firstAt >= until + DOUBT_MS || part.instances > 1 || isRestarted(part, at, events);
}

function isRestarted({ name }: StorePart, sinceMs: number, events: readonly HistoryEvent[]): boolean {
  return eventsOf(events, "fault").some(
    ({ fault, part, until }) =>
      part === name && until >= sinceMs && (fault === "dispatcher-killed" || fault === "dispatcher-stopped"),
  );
}

/** Whether a fault is a clock's. */
export function isClockJump({ fault }: Faulted): boolean {
  return fault === "clock-jump";
}

function jumpsOf({ name }: StorePart, events: readonly HistoryEvent[]): Faulted[] {
  return eventsOf(events, "fault").filter((fault) => isClockJump(fault) && fault.part === name);
}
