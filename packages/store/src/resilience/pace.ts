import { setTimeout as after } from "node:timers/promises";
import { ExponentialBackoff } from "cockatiel";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/** Waits, but no longer than until the signal. */
export async function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  await after(delayMs, undefined, { signal, ref: true }).catch(() => undefined);
}

/** The pace of repeated tries: longer and longer pauses while they fail. */
export class Pace {
  private readonly factory = new ExponentialBackoff({ initialDelay: FIRST_PAUSE_MS, maxDelay: LONGEST_PAUSE_MS });
  private current = this.factory.next();
  private isFirst = true;

  /** Waits before the next try. */
  async failed(signal?: AbortSignal): Promise<void> {
    if (!this.isFirst) this.current = this.current.next(undefined);
    this.isFirst = false;
    await pause(this.current.duration, signal);
  }

  /** The next failure is a first one again. */
  succeeded(): void {
    if (this.isFirst) return;
    this.current = this.factory.next();
    this.isFirst = true;
  }
}
