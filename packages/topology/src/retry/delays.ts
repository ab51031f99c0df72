import { parseDelay } from "../duration";
import { DelayTopologyError, checkInteger } from "../errors";
import { brokerLimits } from "../names";

/** A delay as somebody writes it: milliseconds, or a text like `"5m"`. */
export type DelayText = number | string;

/**
 * Checks the delays that there shall be queues for.
 * @throws DelayTopologyError for none, one twice, one that is no whole number from 1 ms to the broker's longest TTL
 */
export function checkDelays(property: string, values: unknown): void {
  if (!Array.isArray(values) || values.length === 0) {
    throw new DelayTopologyError(property, values, `it must be a list of at least one delay, e.g. [5000, "5m"]`);
  }
  const seen = new Set<number>();
  values.forEach((value: unknown, index) => {
    const at = `${property}[${index}]`;
    const delayMs = toDelayMs(at, value);
    if (seen.has(delayMs)) throw new DelayTopologyError(at, value, `${delayMs} ms stands in the list already`);
    seen.add(delayMs);
  });
}

/** Checked delays in milliseconds, ascending. */
export function sortedDelays(delays: readonly DelayText[]): number[] {
  return delays.map((delay) => toDelayMs("delays", delay)).sort((a, b) => a - b);
}

/** @throws DelayTopologyError for what is no delay that a queue can have */
export function toDelayMs(property: string, value: unknown): number {
  return checkDelayMs(property, typeof value === "string" ? parseDelay(value, property) : value);
}

/** @throws DelayTopologyError unless it is a TTL that the broker takes, and not 0 */
export function checkDelayMs(property: string, value: unknown): number {
  return checkInteger(property, value, 1, brokerLimits.messageTtlMs);
}

/**
 * The one of the declared delays that a message can wait.
 * @throws DelayTopologyError that lists what there is
 */
export function checkDeclared(property: string, delayMs: number, declaredMs: readonly number[]): number {
  if (declaredMs.includes(delayMs)) return delayMs;
  throw new DelayTopologyError(property, delayMs, `there are queues for ${declaredMs.join(", ")} ms`);
}
