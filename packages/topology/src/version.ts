import { DelayTopologyError } from "./errors";

/**
 * Whether a broker's version is a release or a newer one. What stands behind the numbers counts for nothing: a candidate such as
 * `4.3.0-rc.1` has what 4.3.0 has, delivery limits above all, though the order of semantic versions puts it before.
 */
export function isAtLeast(version: string, oldest: string): boolean {
  const [found, needed] = [numbersOf(version), numbersOf(oldest)];
  const index = needed.findIndex((number, at) => number !== (found[at] ?? 0));
  return index < 0 || (found[index] ?? 0) > (needed[index] as number);
}

/** @throws DelayTopologyError for what can't be the version of a broker */
export function checkBrokerVersion(property: string, version: unknown): string {
  if (isBrokerVersion(version)) return version;
  throw new DelayTopologyError(property, version, "it must be a version of RabbitMQ, e.g. 4.3.6");
}

/** Whether a value can be the version of a broker. */
export function isBrokerVersion(version: unknown): version is string {
  return typeof version === "string" && /^\d+\.\d+/.test(version);
}

function numbersOf(version: string): number[] {
  const [numbers = "0"] = /^\d+(\.\d+)*/.exec(version) ?? [];
  return numbers.split(".").map(Number);
}
