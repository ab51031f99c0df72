import { strict as assert } from "node:assert";
import { performance } from "node:perf_hooks";

/** Part of a millisecond by which a wait is rounded, as docs/reliability.md says; both times here are whole ones. */
const ROUNDED_MS = 1;

/** Finds out by how much the time of day was set back, from readings of it between two readings of the monotonic clock. */
export class ClockWatch {
  private readonly steps: { sinceMs: number; backMs: number }[] = [];
  private latestMs = 0;
  /** Bounds of how far the time of day is ahead. */
  private lower = -Infinity;
  private upper = Infinity;

  /** Adds a reading, however long it took. @param wallMs whole milliseconds, with their parts dropped */
  add(beforeMs: number, wallMs: number, afterMs: number): void {
    const [lower, upper] = [wallMs - afterMs, wallMs + 1 - beforeMs];
    // Bounds hide less than a millisecond of a step.
    const backMs = this.lower - upper;
    if (backMs > 0) this.steps.push({ sinceMs: this.latestMs - backMs - 1, backMs: backMs + 1 });
    this.latestMs = wallMs;
    const isSet = backMs > 0 || lower > this.upper;
    this.lower = isSet ? lower : Math.max(this.lower, lower);
    this.upper = isSet ? upper : Math.min(this.upper, upper);
  }

  /** Returns by how much it was set back before a time of day. */
  backBefore(atMs: number): number {
    // A step may have been at any time since the reading before it.
    const before = this.steps.filter(({ sinceMs }) => sinceMs <= atMs);
    return before.reduce((sum, { backMs }) => sum + backMs, 0);
  }
}

let watch = new ClockWatch();
setInterval(read, 100).unref();

function read(): void {
  const beforeMs = performance.now();
  const wallMs = Date.now();
  watch.add(beforeMs, wallMs, performance.now());
}

/** Called before each test: the host of a virtual machine may set its clock during one. */
export function watchClock(): void {
  watch = new ClockWatch();
  read();
}

/** Whether a message came before it was due. A clock that was set back during this test, and before that, shows less time than has passed. */
export function isEarly(atMs: number, dueMs: number): boolean {
  read();
  return !(dueMs - atMs <= ROUNDED_MS + watch.backBefore(atMs));
}

/** Fails if a message came before it was due; see {@link isEarly}. */
export function assertNotEarly(name: string, atMs: number, dueMs: number): void {
  const backMs = watch.backBefore(atMs);
  const excuse = backMs > 0 ? `; the clock was set back by ${backMs} ms before that` : "";
  const told = `${name} came ${dueMs - atMs} ms early${excuse}`;
  assert.ok(!isEarly(atMs, dueMs), told);
  if (dueMs - atMs > ROUNDED_MS) console.warn(told);
}
