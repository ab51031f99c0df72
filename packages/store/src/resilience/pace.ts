import { setTimeout as after } from "node:timers/promises";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/** Waits, but no longer than until the signal. */
export async function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  await after(delayMs, undefined, { signal, ref: true }).catch(() => undefined);
}

/** The pace of repeated tries: longer and longer pauses while they fail, of which no two have the same length. */
export class Pace {
  private failures = 0;

  /** @param longestMs no pause is longer, in milliseconds */
  constructor(private readonly longestMs = LONGEST_PAUSE_MS) {}

  /** The length of the next pause, in milliseconds: between a half of twice the last one and all of it. */
  nextMs(): number {
    const fullMs = Math.min(this.longestMs, FIRST_PAUSE_MS * 2 ** this.failures);
    this.failures++;
    return (fullMs * (1 + Math.random())) / 2;
  }

  /** Waits before the next try. */
  async failed(signal?: AbortSignal): Promise<void> {
    await pause(this.nextMs(), signal);
  }

  /** The next failure is a first one again. */
  succeeded(): void {
    this.failures = 0;
  }
}
