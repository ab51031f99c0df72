/** A bounded number of places; who finds none waits, first come, first served. */
export class Slots {
  private readonly waiting = new Set<() => void>();
  private free: number;

  constructor(count: number) {
    this.free = count;
  }

  /**
   * Resolves when a place is taken.
   * @param patience ends the waiting: then this rejects with its reason, and nothing is kept of who waited
   */
  async take(patience?: AbortSignal): Promise<void> {
    if (this.free > 0) {
      this.free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      this.waiting.add(resolve);
      const giveUp = (): void => {
        // A place that was given at the same moment is not lost.
        if (this.waiting.delete(resolve)) reject(patience?.reason as Error);
      };
      patience?.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** Gives a place back, to the one who has waited longest. */
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
