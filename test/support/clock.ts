import { strict as assert } from "node:assert";
import { performance } from "node:perf_hooks";

/** Part of a millisecond by which a wait is rounded, as docs/reliability.md says; both times here are whole ones. */
const ROUNDED_MS = 1;

/** Finds out by how much the time of day was set, from readings of it between two of the monotonic clock. */
export class ClockWatch {
  private greatestLower = -Infinity;
  private leastUpper = Infinity;

  /** Adds a reading. @param wallMs whole milliseconds, with their parts dropped */
  add(beforeMs: number, wallMs: number, afterMs: number): void {
    this.greatestLower = Math.max(this.greatestLower, wallMs - afterMs);
    this.leastUpper = Math.min(this.leastUpper, wallMs + 1 - beforeMs);
  }

  /** What the readings prove: 0 if one distance between both clocks explains them all, however long a reading took. */
  get setMs(): number {
    return Math.max(0, this.greatestLower - this.leastUpper);
  }
}

const watch = new ClockWatch();
read();
setInterval(read, 100).unref();

function read(): void {
  const beforeMs = performance.now();
  const wallMs = Date.now();
  watch.add(beforeMs, wallMs, performance.now());
}

/**
 * Fails if a message came before it was due. A virtual machine's host may set its clock meanwhile: set back, it shows less time than
 * has passed; set forward, Erlang's clock runs 1 % faster than others until it has caught up, up to OTP 25.
 */
export function assertNotEarly(name: string, atMs: number, dueMs: number): void {
  read();
  const earlyMs = dueMs - atMs;
  const { setMs } = watch;
  assert.ok(
    earlyMs <= ROUNDED_MS + setMs,
    `${name} came ${earlyMs} ms early; the clock was set by ${setMs} ms meanwhile`,
  );
  if (earlyMs > ROUNDED_MS)
    console.warn(`${name} came ${earlyMs} ms early: the clock was set by ${setMs} ms meanwhile`);
}
