import type { StoreMessage } from "../plan/types";
import { isClockJump } from "./clocks";
import { plannedMessage } from "./expectation";
import type { Lifetime } from "./lifetimes";

/** Time for which a store believes a receipt; from docs/store.md. */
const BELIEVED_MS = 15_000;

/** Whether a message without an id may have been stored a second time, under another id. */
export function mayBeStoredTwice(lifetime: Lifetime): boolean {
  const { part, publications, faults } = lifetime;
  if (part.mechanism !== "store" || publications.some(({ messageId }) => messageId !== undefined)) return false;
  // A gateway has no receipts.
  if (part.database === "network") return faults.length > 0;
  if (faults.every(isClockJump)) return false;
  // SQLite's receipts have their age by the process's clock.
  return longestAgeMs(lifetime) >= BELIEVED_MS || (part.database === "sqlite" && faults.some(isClockJump));
}

/** A receipt's age, at the most, when the last copy was taken in: a broker that was away may bring a message back late. */
function longestAgeMs({ part, n, from, to, publications }: Lifetime): number {
  const isFromIntakeOn = (plannedMessage(part, n) as StoreMessage).by === "x-delay";
  const waitedMs = isFromIntakeOn ? Math.min(...publications.map(({ delayMs }) => delayMs)) : 0;
  return to - waitedMs - from;
}
