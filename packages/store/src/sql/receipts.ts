import type { TakenMessage } from "../delayedMessageStore";

/** How long a receipt may belong to a session that still runs: a cycle of an intake takes milliseconds, and at most this long. */
export const DOUBT_MS = 5000;
/**
 * Messages in an ended session's hand come back at once, unless a host vanished. An older receipt is never matched, because its message was
 * most likely acknowledged, and a message that looks the same is another one. Any session that sees such a receipt drops it.
 */
export const RETURN_MS = 3 * DOUBT_MS;
/** How often an intake drops receipts that are too old to be matched. */
export const SWEEP_MS = DOUBT_MS;
/**
 * How far ahead of the clock a receipt may be just because of the order of statements; one further ahead was written before the clock was
 * put back.
 */
export const AHEAD_MS = 1000;

/** A receipt, as a database has it. */
export interface Receipt {
  messageId: string;
  fingerprint: string;
  /** How often the message had been delivered when it was stored. */
  earlierDeliveries: number;
  /** How many sessions began since its own ended. */
  begun: number;
  /** Milliseconds since it was written; see {@link ageOf}. */
  ageMs: number;
  /** Whether its session is known to have ended. */
  isEnded: boolean;
}

/** The changes to write for messages in hand. */
export interface Recognized {
  /** Messages without a receipt. */
  unknown: TakenMessage[];
  /** Messages that are stored already, with the receipt that becomes theirs. */
  known: { receipt: Receipt; taken: TakenMessage }[];
  /** How long to wait until it can be decided, in milliseconds; 0 when it can. */
  waitMs: number;
}

/**
 * Finds out which messages are stored already. A message that came for the first time is not. For one that came before, a receipt of an
 * ended session with the same fingerprint is used, each receipt for one message. But a message that was delivered no more often than that
 * of the receipt, or less often than sessions have begun since, is a later message, and unknown. A message whose receipt is old is unknown,
 * too, and so are equal ones of which another number comes than there are receipts: a consumer recognizes an extra copy, but nobody notices a missing
 * message.
 * @param others receipts of other sessions with these fingerprints
 * @param isPatient whether to wait for receipts of sessions that may go on
 */
export function recognize(taken: readonly TakenMessage[], others: readonly Receipt[], isPatient: boolean): Recognized {
  const left = new Map<string, Receipt[]>();
  // The latest last, because a message takes the one that fits most closely.
  for (const receipt of [...others].filter(({ ageMs }) => ageMs < RETURN_MS).sort((a, b) => leastOf(a) - leastOf(b))) {
    const same = left.get(receipt.fingerprint);
    if (same === undefined) left.set(receipt.fingerprint, [receipt]);
    else same.push(receipt);
  }
  for (const [fingerprint, receipts] of left) {
    const least = Math.min(...receipts.map(leastOf));
    const fitting = taken.filter((one) => one.fingerprint === fingerprint && one.earlierDeliveries >= least);
    const most = Math.max(...fitting.map(({ earlierDeliveries }) => earlierDeliveries));
    const theirs = receipts.filter((receipt) => leastOf(receipt) <= most);
    // They are acknowledged at once. Where others come than were stored, some of them were in hand and not stored yet.
    if (fitting.length !== theirs.length) left.delete(fingerprint);
  }
  const result: Recognized = { unknown: [], known: [], waitMs: 0 };
  // Messages that came most often choose last, because they fit more receipts than the others do.
  const inOrder = [...taken].sort((a, b) => a.earlierDeliveries - b.earlierDeliveries);
  for (const one of inOrder) {
    const fitting = (left.get(one.fingerprint) ?? []).filter((receipt) => one.earlierDeliveries >= leastOf(receipt));
    const orphan = fitting.filter(isOrphan).at(-1);
    if (orphan !== undefined) {
      result.known.push({ receipt: orphan, taken: one });
      left.set(
        one.fingerprint,
        (left.get(one.fingerprint) ?? []).filter((receipt) => receipt !== orphan),
      );
      continue;
    }
    if (isPatient) result.waitMs = Math.max(result.waitMs, ...fitting.map(({ ageMs }) => waitFor(ageMs)));
    result.unknown.push(one);
  }
  return result;
}

/** Whether the session of a receipt has ended: either it is known, or the session has had more time than one takes. */
export function isOrphan({ isEnded, ageMs }: Pick<Receipt, "isEnded" | "ageMs">): boolean {
  return isEnded || ageMs >= DOUBT_MS;
}

/** How often the message of a receipt has been delivered, at least, when it comes back. */
function leastOf({ earlierDeliveries, begun }: Receipt): number {
  return earlierDeliveries + Math.max(1, begun);
}

/** A receipt's age by the clock; one from the future, left by a clock that was put back, belongs to a session that has ended. */
export function ageOf(elapsedMs: number): number {
  return elapsedMs < -AHEAD_MS ? DOUBT_MS : Math.max(0, elapsedMs);
}

/** How long to wait until a receipt of this age belongs to an ended session; never longer than the doubt lasts. */
export function waitFor(ageMs: number): number {
  return Math.ceil(Math.min(DOUBT_MS, Math.max(0, DOUBT_MS - ageMs)));
}
