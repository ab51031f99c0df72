import { StoreMismatchError } from "./errors";

/** The limit of Node's timers, which fire at once for more. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * @param aboveMs how much is added to it where it is used
 * @throws StoreMismatchError for a time that no timer can wait for
 */
export function checkTimer(property: string, value: unknown, aboveMs = 0): number {
  const longest = LONGEST_TIMER_MS - aboveMs;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= longest) return value;
  const shown = typeof value === "number" ? String(value) : JSON.stringify(value);
  throw new StoreMismatchError(property, `${shown} is not allowed; it must be whole milliseconds from 1 to ${longest}`);
}
