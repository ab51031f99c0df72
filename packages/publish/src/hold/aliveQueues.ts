import { MessageRefusedError } from "../errors";

/** The hold queues that this process has declared and that the broker has not let go yet. */
export class AliveQueues {
  private readonly goneAtMs = new Map<string, number>();

  get count(): number {
    return this.goneAtMs.size;
  }

  /**
   * Notes a declare.
   * @param expiresMs how long the queue stays from now on
   * @returns whether the queue is new to this process
   * @throws MessageRefusedError when it would be one too many
   */
  note(name: string, expiresMs: number, maximum: number): boolean {
    const now = performance.now();
    const isNew = !this.goneAtMs.has(name);
    if (isNew && this.count >= maximum) this.forgetGone(now);
    if (isNew && this.count >= maximum) {
      throw new MessageRefusedError(
        "maxQueues",
        `this process has ${maximum} hold queues already; fewer distinct delays and destinations, a delay network, or a ` +
          `higher maxQueues help`,
      );
    }
    this.goneAtMs.set(name, now + expiresMs);
    return isNew;
  }

  private forgetGone(now: number): void {
    for (const [name, goneAtMs] of this.goneAtMs) if (goneAtMs < now) this.goneAtMs.delete(name);
  }
}
