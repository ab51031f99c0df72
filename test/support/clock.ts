import { strict as assert } from "node:assert";
import { performance } from "node:perf_hooks";

/** Part of a millisecond by which a wait is rounded, as docs/reliability.md says; both times here are whole ones. */
const ROUNDED_MS = 1;
/** Part of the time by which Erlang's clock is fast while it catches up, up to OTP 25; measured on RabbitMQ 3.10.8. */
const CATCHING_UP = 0.01;

/** Finds out by how much the time of day was set, from readings of it between two readings of the monotonic clock. */
export class ClockWatch {
  forwardMs = 0;
  backMs = 0;
  /** Bounds of how far the time of day is ahead. */
  private lower = -Infinity;
  private upper = Infinity;

  /** Adds a reading, however long it took. @param wallMs whole milliseconds, with their parts dropped */
  add(beforeMs: number, wallMs: number, afterMs: number): void {
    const [lower, upper] = [wallMs - afterMs, wallMs + 1 - beforeMs];
    // What bounds can't tell of a step is less than a millisecond.
    const forwardMs = lower - this.upper;
    const backMs = this.lower - upper;
    if (forwardMs > 0) this.forwardMs += forwardMs + 1;
    if (backMs > 0) this.backMs += backMs + 1;
    const isSet = forwardMs > 0 || backMs > 0;
    this.lower = isSet ? lower : Math.max(this.lower, lower);
    this.upper = isSet ? upper : Math.min(this.upper, upper);
  }

  /**
   * Returns how early a message may seem: set back, a clock shows less time than has passed; set forward, Erlang's is fast until it has
   * caught up.
   */
  excusedMs(sinceMs: number): number {
    return this.backMs + Math.min(this.forwardMs, sinceMs * CATCHING_UP);
  }
}

let watch = new ClockWatch();
let startMs = performance.now();
setInterval(read, 100).unref();

function read(): void {
  const beforeMs = performance.now();
  const wallMs = Date.now();
  watch.add(beforeMs, wallMs, performance.now());
}

/** Called before each test: the host of a virtual machine may set its clock during one. */
export function watchClock(): void {
  watch = new ClockWatch();
  startMs = performance.now();
  read();
}

/** Whether a message came before it was due, and no clock that was set during this test explains it. */
export function isEarly(atMs: number, dueMs: number): boolean {
  return !(dueMs - atMs <= ROUNDED_MS + excusedMs());
}

/** Fails if a message came before it was due; see {@link isEarly}. */
export function assertNotEarly(name: string, atMs: number, dueMs: number): void {
  const excuse = excusedMs() > 0 ? `; clocks that were set explain ${excusedMs()} ms` : "";
  const told = `${name} came ${dueMs - atMs} ms early${excuse}`;
  assert.ok(!isEarly(atMs, dueMs), told);
  if (dueMs - atMs > ROUNDED_MS) console.warn(told);
}

function excusedMs(): number {
  read();
  return watch.excusedMs(performance.now() - startMs);
}
