import { DelayTopologyError } from "./errors";

const unitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const SHORT = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/;
// Years and months are left out: how long they are depends on the calendar.
const ISO =
  /^P(?=.)(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?=.)(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/**
 * Reads a delay as people write it: `1500ms`, `10s`, `5m`, `2h`, `3d`, or an ISO-8601 duration of weeks to seconds (`PT1M30S`).
 * @returns milliseconds, rounded up to whole ones
 * @throws DelayTopologyError
 */
export function parseDelay(text: string, property = "delay"): number {
  const trimmed = String(text).trim();
  const short = SHORT.exec(trimmed);
  if (short) return Math.ceil(round(Number(short[1]) * unitsMs[short[2] as keyof typeof unitsMs]));
  const iso = ISO.exec(trimmed.toUpperCase());
  if (iso) {
    const factors = [unitsMs.w, unitsMs.d, unitsMs.h, unitsMs.m, unitsMs.s];
    return Math.ceil(round(factors.reduce((sum, factor, index) => sum + Number(iso[index + 1] ?? 0) * factor, 0)));
  }
  throw new DelayTopologyError(
    property,
    text,
    "write a number with ms, s, m, h, d or w behind it (10s), or an ISO-8601 duration (PT10S)",
  );
}

/** Writes a delay for people, as exactly as {@link parseDelay} reads it: `1500ms`, `10s`, `2h`. */
export function formatDelay(delayMs: number): string {
  for (const unit of ["d", "h", "m", "s"] as const) {
    if (delayMs >= unitsMs[unit] && delayMs % unitsMs[unit] === 0) return `${delayMs / unitsMs[unit]}${unit}`;
  }
  return `${delayMs}ms`;
}

/** Takes away what binary fractions add: 1.001 s is 1001 ms, not 1000.9999999999999. */
function round(value: number): number {
  return Number(value.toPrecision(15));
}
