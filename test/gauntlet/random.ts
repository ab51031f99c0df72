/**
 * Numbers that follow from a seed alone (mulberry32), so that a seed repeats a round. Whatever a plan leaves open is drawn from one of
 * these, and nothing else.
 */
export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed | 0;
    // Neighbouring seeds start alike without it.
    for (let index = 0; index < 4; index++) this.next();
  }

  /** From 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number; both ends belong to it. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws Error for an empty list */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error("there is nothing to pick from");
    return list[this.whole(0, list.length - 1)] as T;
  }

  /** One of the keys, each as likely as its weight; a weight of 0 is never drawn. */
  weighted<K extends string>(weights: Partial<Record<K, number>>): K {
    const entries = (Object.entries(weights) as [K, number][]).filter(([, weight]) => weight > 0);
    const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
    let left = this.next() * total;
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return (entries.at(-1) as [K, number])[0];
  }

  /** So many different ones, in the list's order. */
  some<T>(list: readonly T[], count: number): T[] {
    const left = list.map((_, index) => index);
    const chosen: number[] = [];
    while (chosen.length < count && left.length > 0) {
      chosen.push(left.splice(this.whole(0, left.length - 1), 1)[0] as number);
    }
    return chosen.sort((a, b) => a - b).map((index) => list[index] as T);
  }
}
