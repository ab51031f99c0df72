import { DelayTopologyError, checkKnown } from "./errors";

/** All that a stack's config may have; the last two are secrets. */
export const stackConfigKeys = [
  "broker",
  "cluster",
  "createVhost",
  "network",
  "retryIntervals",
  "workQueues",
  "holdQueues",
  "delayedRetryQueues",
  "delayedStore",
  "removal",
  "production",
  "allow",
  "endpoints",
  "formerOwners",
  "brokerPassword",
  "storePassword",
] as const;
export type StackConfigKey = (typeof stackConfigKeys)[number];

/** What the config says of where the broker is. */
export const brokerConfigKeys = ["managementUrl", "username", "vhost", "caCertFile", "insecure"] as const;
export type BrokerConfigKey = (typeof brokerConfigKeys)[number];

/** What the config says of an endpoint. */
export const endpointConfigKeys = ["name", "type", "patterns", "createQueue", "queueType", "retries"] as const;
export type EndpointConfigKey = (typeof endpointConfigKeys)[number];

/** What may happen to what leaves the config. */
export const removals = ["retain", "delete"] as const;

/**
 * Looks for keys of a stack's config that nobody reads: a misspelled `endpoints` would be none, so that all of them leave the stack.
 * @param keys without the project's name before them
 * @throws DelayTopologyError with the known key that is nearest
 */
export function checkStackConfigKeys(keys: readonly string[]): void {
  const unknown = keys.find((key) => !(stackConfigKeys as readonly string[]).includes(key));
  if (unknown === undefined) return;
  throw new DelayTopologyError(
    "config",
    unknown,
    `nothing reads it; did you mean ${nearest(unknown, stackConfigKeys)}? Known keys are ${stackConfigKeys.join(", ")}`,
  );
}

/**
 * Looks for a vhost of the network alone: all of a stack is in the vhost of its broker.
 * @throws DelayTopologyError that names the place for it
 */
export function checkNetworkConfig(network: unknown): void {
  const { vhost } = (network ?? {}) as { vhost?: unknown };
  if (vhost !== undefined) throw new DelayTopologyError("network.vhost", vhost, "give it as broker.vhost");
}

/**
 * Looks at a stack's whole config, where no program does.
 * @throws DelayTopologyError for keys that nobody reads, at the top and in those parts that no component checks, and for a removal
 * that there is none of
 */
export function checkStackConfig(config: Readonly<Record<string, unknown>>): void {
  checkStackConfigKeys(Object.keys(config));
  checkNetworkConfig(config.network);
  if (config.broker !== undefined) checkKnown("broker", config.broker, brokerConfigKeys, "broker.");
  for (const [index, endpoint] of ((config.endpoints ?? []) as unknown[]).entries()) {
    checkKnown(`endpoints[${index}]`, endpoint, endpointConfigKeys, `endpoints[${index}].`);
  }
  const { removal } = config;
  if (removal === undefined || (removals as readonly unknown[]).includes(removal)) return;
  throw new DelayTopologyError("removal", removal, `it must be one of ${removals.join(", ")}`);
}

/** The word that takes the fewest changes of letters. */
function nearest(word: string, words: readonly string[]): string {
  const byDistance = words.map((other) => [distance(word.toLowerCase(), other.toLowerCase()), other] as const);
  return byDistance.reduce((best, next) => (next[0] < best[0] ? next : best))[1];
}

/** Letters to add, leave out or change. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...to].entries()) {
      const changed = (row[column] as number) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] as number) + 1, (next[column] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
