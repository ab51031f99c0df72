interface Waiting {
  bytes: number;
  resolve: () => void;
}

/** A bounded number of places, and of bytes in them; callers wait when there is no room, first come, first served. */
export class Slots {
  private readonly waiting = new Set<Waiting>();
  private taken = 0;
  private takenBytes = 0;

  /** @param maximumBytes more than that has room by itself alone */
  constructor(
    private readonly count: number,
    private readonly maximumBytes = Infinity,
  ) {}

  /**
   * Resolves when a place is taken.
   * @param patience ends the waiting: then this rejects with its reason, and the waiting caller is forgotten
   * @param bytes the same number is given back with the place
   */
  async take(patience?: AbortSignal, bytes = 0): Promise<void> {
    if (this.waiting.size === 0 && this.hasRoomFor(bytes)) return this.occupy(bytes);
    await new Promise<void>((resolve, reject) => {
      const one = { bytes, resolve };
      this.waiting.add(one);
      const giveUp = (): void => {
        // Don't lose a place that was given at the same moment.
        if (!this.waiting.delete(one)) return;
        reject(patience?.reason as Error);
        // Smaller ones may have waited behind it.
        this.serve();
      };
      patience?.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** Gives a place back, to those who have waited longest. */
  giveBack(bytes = 0): void {
    this.taken--;
    this.takenBytes -= bytes;
    this.serve();
  }

  private serve(): void {
    for (const one of this.waiting) {
      if (!this.hasRoomFor(one.bytes)) return;
      this.waiting.delete(one);
      this.occupy(one.bytes);
      one.resolve();
    }
  }

  private hasRoomFor(bytes: number): boolean {
    return this.taken === 0 || (this.taken < this.count && this.takenBytes + bytes <= this.maximumBytes);
  }

  private occupy(bytes: number): void {
    this.taken++;
    this.takenBytes += bytes;
  }
}
