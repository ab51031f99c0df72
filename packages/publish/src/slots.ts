/** A bounded number of places; who finds none waits, first come, first served. */
export class Slots {
  private readonly waiting: (() => void)[] = [];
  private free: number;

  constructor(count: number) {
    this.free = count;
  }

  /** Resolves when a place is taken. */
  async take(): Promise<void> {
    if (this.free > 0) {
      this.free--;
      return;
    }
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Gives a place back, to the one who has waited longest. */
  giveBack(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free++;
    else next();
  }
}
