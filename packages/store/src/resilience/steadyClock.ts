/** How far ahead a clock may jump without being doubted. */
const TOLERATED_JUMP_MS = 60_000;
/** How long a larger jump ahead has to last until it is believed. */
const DOUBT_MS = 30_000;

/**
 * The time of day, without short jumps ahead: a jump that is soon undone would have made all messages due at once. A jump of more than a
 * minute ahead is believed when it lasts for half a minute; a jump back is believed at once, because it makes nothing early.
 */
export class SteadyClock {
  private wallMs: number;
  private elapsedMs: number;
  private doubt: { sinceMs: number; aheadMs: number } | undefined;
  /** How far the clock would be ahead of the clock that never jumps, if it had not recently jumped back. */
  private former: { aheadMs: number; sinceMs: number } | undefined;

  /**
   * @param wall milliseconds since 1970, which may jump
   * @param elapsed milliseconds of a clock that never jumps
   */
  constructor(
    private readonly wall: () => number = Date.now,
    private readonly elapsed: () => number = () => performance.now(),
  ) {
    this.wallMs = wall();
    this.elapsedMs = elapsed();
  }

  /** Whether the clock has jumped ahead and is not believed yet. */
  get isDoubted(): boolean {
    return this.doubt !== undefined;
  }

  now(): number {
    const [wallMs, elapsedMs] = [this.wall(), this.elapsed()];
    const expectedMs = this.wallMs + (elapsedMs - this.elapsedMs);
    const aheadMs = wallMs - expectedMs;
    if (aheadMs > TOLERATED_JUMP_MS) {
      // Another jump meanwhile starts a new doubt.
      if (this.doubt === undefined || Math.abs(aheadMs - this.doubt.aheadMs) > TOLERATED_JUMP_MS) {
        this.doubt = { sinceMs: elapsedMs, aheadMs };
      }
      if (elapsedMs - this.doubt.sinceMs < DOUBT_MS) return Math.floor(expectedMs);
    }
    if (expectedMs - wallMs > TOLERATED_JUMP_MS) {
      this.former = { aheadMs: Math.max(expectedMs, this.formerNow(elapsedMs)) - elapsedMs, sinceMs: elapsedMs };
    }
    this.doubt = undefined;
    this.wallMs = wallMs;
    this.elapsedMs = elapsedMs;
    return wallMs;
  }

  /**
   * The time from which delays count: for half a minute after a jump the later of both clocks, so that a message is not early, whichever of
   * them turns out to be right.
   */
  forDelays(): number {
    const nowMs = this.now();
    return Math.ceil(Math.max(nowMs, this.wall(), this.formerNow(this.elapsed())));
  }

  private formerNow(elapsedMs: number): number {
    const { former } = this;
    return former === undefined || elapsedMs - former.sinceMs >= DOUBT_MS
      ? Number.NEGATIVE_INFINITY
      : former.aheadMs + elapsedMs;
  }
}
