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

/**
 * Finds out which messages are stored already: each that came before and has a record in an earlier lot. Where several equal ones are
 * recorded or come, nobody can tell: of those in an ended session's hand, some were stored and acknowledged, and others not stored yet. Then
 * none is taken for stored, because a consumer recognizes a copy by its id, and nobody notices a missing message.
 */
export function sortOut(taken: readonly TakenMessage[], others: readonly StoredLot[]): Sorted {
  const left = others.map(({ lot, fingerprints }) => ({ lot, fingerprints: [...fingerprints] }));
  const [returned, recorded] = [new Map<string, number>(), new Map<string, number>()];
  for (const { earlierDeliveries, fingerprint } of taken) if (earlierDeliveries > 0) count(returned, fingerprint);
  for (const { fingerprints } of others) for (const fingerprint of fingerprints) count(recorded, fingerprint);
  const changed = new Set<StoredLot>();
  const sorted: Omit<Sorted, "left"> = { unknown: [], known: [] };
  for (const one of taken) {
    const { fingerprint, earlierDeliveries } = one;
    const isAlone = returned.get(fingerprint) === 1 && recorded.get(fingerprint) === 1;
    const of =
      earlierDeliveries > 0 && isAlone
        ? left.find(({ fingerprints }) => fingerprints.includes(fingerprint))
        : undefined;
    if (of === undefined) {
      sorted.unknown.push(one);
      continue;
    }
    of.fingerprints.splice(of.fingerprints.indexOf(fingerprint), 1);
    changed.add(of);
    sorted.known.push(one);
  }
  return { ...sorted, left: [...changed] };
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
