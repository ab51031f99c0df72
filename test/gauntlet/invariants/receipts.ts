import type { Faulted } from "../history";
import type { StoreMessage, StorePart } from "../plan/types";
import { isClockJump, isDoubted } from "./clocks";
import { plannedMessage } from "./expectation";
import type { Lifetime } from "./lifetimes";

/** Time for which a store believes a receipt; from docs/store-limits.md. */
export const BELIEVED_MS = 15_000;

/**
 * Time from a publication in which a store takes the message in, and the broker writes the acknowledgement to its disk. The broker's answers
 * don't wait for that, and a processor that is busy makes it late.
 */
export const UNWRITTEN_MS = 2000;

/** Faults after which the broker delivers again what a store had in hand. */
const ENDS_SESSIONS = /^(broker-|power-cut|connections-closed|dispatcher-|database-)/;

/** Whether more ids of a message without one arrived than publications, and docs/store-limits.md names the reason. */
export function mayBeStoredTwice(lifetime: Lifetime): boolean {
  const { part, publications } = lifetime;
  const secondIdAt = firstArrivalsOfIds(lifetime)[Math.max(1, publications.length)];
  if (part.mechanism !== "store" || secondIdAt === undefined) return false;
  if (publications.some(({ messageId }) => messageId !== undefined)) return false;
  const ends = lifetime.faults.filter(({ fault }) => ENDS_SESSIONS.test(fault)).length;
  if (mayHaveLostAcknowledgement(lifetime)) return true;
  // A gateway has no receipts.
  if (part.database === "network" || ends === 0) return ends > 0;
  return ends > 1 || part.instances > 1 || longestAgeMs(lifetime, part, secondIdAt) >= BELIEVED_MS;
}

/** Whether a broker was killed that may not have written the acknowledgement of an intake; then it brings back what a store has forgotten. */
export function mayHaveLostAcknowledgement({ part, from, faults }: Lifetime): boolean {
  const isKill = ({ fault, at, until }: Faulted): boolean =>
    (fault === "broker-killed" || fault === "power-cut") && at <= from + UNWRITTEN_MS && until >= from;
  return part.mechanism === "store" && faults.some(isKill);
}

/** When each of its ids arrived first, in this order. */
function firstArrivalsOfIds({ arrivals }: Lifetime): number[] {
  const first = new Map<string | undefined, number>();
  for (const { messageId, at } of arrivals) first.set(messageId, Math.min(at, first.get(messageId) ?? Infinity));
  return [...first.values()].sort((a, b) => a - b);
}

/** A receipt's age, at the most, when what arrived under a second id was taken in: a broker that was away may bring a message back late. */
function longestAgeMs(lifetime: Lifetime, part: StorePart, secondIdAt: number): number {
  const { n, from, publications, faults } = lifetime;
  const isFromIntakeOn = (plannedMessage(part, n) as StoreMessage).by === "x-delay";
  const waitedMs = isFromIntakeOn ? Math.min(...publications.map(({ delayMs }) => delayMs)) : 0;
  const jumpsMs = faults
    .filter(isClockJump)
    .map(({ byMs = 0 }) => byMs)
    // SQLite's receipts have their age by the process's clock; by a clock that is believed, what they have let pass arrives early.
    .filter((byMs) => part.database === "sqlite" || !isDoubted(byMs));
  return jumpsMs.reduce((sum, byMs) => sum + Math.abs(byMs), secondIdAt - waitedMs - from);
}
