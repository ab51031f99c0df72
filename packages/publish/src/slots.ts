/** A bounded number of places; callers wait when none is free, first come, first served. */
export class Slots {
  private readonly waiting = new Set<() => void>();
  private free: number;

  constructor(count: number) {
    this.free = count;
  }

  /**
   * Resolves when a place is taken.
   * @param patience ends the waiting: then this rejects with its reason, and the waiting caller is forgotten
   */
  async take(patience?: AbortSignal): Promise<void> {
    if (this.free > 0) {
      this.free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      this.waiting.add(resolve);
      const giveUp = (): void => {
        // Don't lose a place that was given at the same moment.
        if (this.waiting.delete(resolve)) reject(patience?.reason as Error);
      };
      patience?.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** Gives a place back, to the caller who has waited longest. */
  giveBack(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.free++;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
