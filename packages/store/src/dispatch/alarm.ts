/** Wakes one sleeper at a time of day that may come nearer while it sleeps. */
export class Alarm {
  private earliestMs = Number.POSITIVE_INFINITY;
  private check: () => void = () => undefined;

  /** Forgets earlier calls; those from now on count for the next sleep. */
  reset(): void {
    this.earliestMs = Number.POSITIVE_INFINITY;
  }

  /** Something is due at a time. */
  call(atMs: number): void {
    this.earliestMs = Math.min(this.earliestMs, atMs);
    this.check();
  }

  /**
   * Sleeps until the time of the earliest call, but no longer than `longestMs` and the signal.
   * @param now the time of day, in milliseconds since 1970
   */
  async sleep(longestMs: number, now: () => number, signal: AbortSignal): Promise<void> {
    const endMs = performance.now() + longestMs;
    let timer: NodeJS.Timeout | undefined;
    let end: () => void = () => undefined;
    const look = (): void => {
      clearTimeout(timer);
      const leftMs = Math.min(this.earliestMs - now(), endMs - performance.now());
      if (leftMs <= 0 || signal.aborted) end();
      // A timer may be early by a part of a millisecond.
      else timer = setTimeout(look, Math.ceil(leftMs));
    };
    signal.addEventListener("abort", look);
    await new Promise<void>((resolve) => {
      end = resolve;
      this.check = look;
      look();
    });
    this.check = () => undefined;
    clearTimeout(timer);
    signal.removeEventListener("abort", look);
  }
}
