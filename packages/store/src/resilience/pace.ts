import { setTimeout as after } from "node:timers/promises";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/** Waits for a time, but only until the signal. */
export async function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  await after(delayMs, undefined, { signal, ref: true }).catch(() => undefined);
}

/** Whether work ends within a time, however it ends, and before the signal. */
export async function endsWithin(work: Promise<unknown>, limitMs: number, signal?: AbortSignal): Promise<boolean> {
  const patience = new AbortController();
  const given = signal === undefined ? patience.signal : AbortSignal.any([patience.signal, signal]);
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, pause(limitMs, given).then(() => false)]);
  } finally {
    patience.abort();
  }
}

/** The pace of repeated tries: ever longer pauses while they fail, with random lengths. */
export class Pace {
  private failures = 0;

  /** @param longestMs the longest pause, in milliseconds */
  constructor(private readonly longestMs = LONGEST_PAUSE_MS) {}

  /** The length of the next pause, in milliseconds: at random between half of the doubled last one and all of it. */
  nextMs(): number {
    const fullMs = Math.min(this.longestMs, FIRST_PAUSE_MS * 2 ** this.failures);
    this.failures++;
    return (fullMs * (1 + Math.random())) / 2;
  }

  /** Waits before the next try. */
  async pauseAfterFailure(signal?: AbortSignal): Promise<void> {
    await pause(this.nextMs(), signal);
  }

  /** Makes the next failure count as the first one again. */
  reset(): void {
    this.failures = 0;
  }
}
