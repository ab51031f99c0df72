import type { TakenMessage } from "../delayedMessageStore";

/**
 * How long a lot of another session is kept after a consuming session has first seen it: messages in that session's hand come back at once.
 */
export const SEEN_MS = 3 * 60_000;
/** How long a lot is kept if nobody takes messages in. */
export const LONGEST_MS = 24 * 3600 * 1000;

/** The record of one statement: its identity, and the fingerprints of those of its messages that may come back. */
export interface StoredLot {
  lot: string;
  fingerprints: string[];
}

/** The changes to write for messages in hand. */
export interface Sorted {
  unknown: TakenMessage[];
  known: TakenMessage[];
  /** Lots of which messages came back, without those messages. */
  left: StoredLot[];
}

/** Finds out which messages are stored already: one that came before, for each equal one in an earlier lot. */
export function sortOut(taken: readonly TakenMessage[], others: readonly StoredLot[]): Sorted {
  const left = others.map(({ lot, fingerprints }) => ({ lot, fingerprints: [...fingerprints] }));
  const changed = new Set<StoredLot>();
  const sorted: Omit<Sorted, "left"> = { unknown: [], known: [] };
  for (const one of taken) {
    const of =
      one.earlierDeliveries > 0 ? left.find(({ fingerprints }) => fingerprints.includes(one.fingerprint)) : undefined;
    if (of === undefined) {
      sorted.unknown.push(one);
      continue;
    }
    of.fingerprints.splice(of.fingerprints.indexOf(one.fingerprint), 1);
    changed.add(of);
    sorted.known.push(one);
  }
  return { ...sorted, left: [...changed] };
}
