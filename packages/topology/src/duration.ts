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

/** Writes a delay for people, a long one with its exact milliseconds behind it: `8y 186d 21h 24m 15s (268435455000 ms)`. */
export function describeDelay(delayMs: number): string {
  const readable = readableDelay(delayMs);
  return readable.includes(" ") ? `${readable} (${delayMs} ms)` : readable;
}

/**
 * Writes a delay so that it can be read at a glance: a short or round one as {@link formatDelay} does, others in years of 365
 * days, days, hours, minutes, seconds and milliseconds: `8y 186d 21h 24m 15s`.
 */
export function readableDelay(delayMs: number): string {
  const exact = formatDelay(delayMs);
  if (delayMs < unitsMs.d && exact.length <= SHORT_ENOUGH) return exact;
  let restMs = delayMs;
  const parts: string[] = [];
  for (const [unit, ms] of Object.entries({
    y: YEAR_MS,
    d: unitsMs.d,
    h: unitsMs.h,
    m: unitsMs.m,
    s: unitsMs.s,
    ms: 1,
  })) {
    const count = Math.floor(restMs / ms);
    restMs -= count * ms;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.length === 0 ? exact : parts.join(" ");
}

const YEAR_MS = 365 * unitsMs.d;
/** `90s` and `1500ms` are read at a glance, `100000s` is not. */
const SHORT_ENOUGH = 6;

/** Takes away what binary fractions add: 1.001 s is 1001 ms, not 1000.9999999999999. */
function round(value: number): number {
  return Number(value.toPrecision(15));
}
