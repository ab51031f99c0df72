/** Wakes one sleeper at a time of day that may be moved forward while it sleeps. */
export class Alarm {
  private earliestMs = Number.POSITIVE_INFINITY;
  private check: () => void = () => undefined;

  /** Forgets earlier calls; calls from now on count for the next sleep. */
  reset(): void {
    this.earliestMs = Number.POSITIVE_INFINITY;
  }

  /** Announces that something is due at a time. */
  call(atMs: number): void {
    this.earliestMs = Math.min(this.earliestMs, atMs);
    this.check();
  }

  /**
   * Sleeps until the time of the earliest call, but at most for `longestMs`, and only until the signal.
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
      // A timer may fire early by a fraction of a millisecond.
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
