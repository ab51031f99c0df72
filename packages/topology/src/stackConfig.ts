import { DelayTopologyError, shownName } from "./errors";
import { checkBrokerAddress } from "./kubernetes/brokerAddress";
import { checkDeployedUser } from "./kubernetes/deployment";
import { checkCluster, checkErlangCookiePlace } from "./kubernetes/readCluster";
import { checkNetworkName } from "./names";
import { nearest } from "./nearest";
import { NAME_PAIR } from "./network/topic";
import type { StackConfig } from "./options.generated";
import { readOptions } from "./schema/options";
import { withoutSecrets } from "./schema/secret";
import { stackConfigSchema } from "./stackSchema";

/** Keys whose values are secrets, and texts. */
export const secretKeys: readonly string[] = ["brokerPassword", "storePassword", "gatewayPassword"];

/** Keys whose values are texts, also where they look like something else. */
const TEXT_KEYS = ["removal", "current", ...secretKeys];

/** A value as it stands in a stack's config: `pulumi config set` writes texts, of JSON where it is more than a text. */
export function openConfigValue(key: string, value: unknown): unknown {
  if (TEXT_KEYS.includes(key)) return ["number", "boolean"].includes(typeof value) ? String(value) : value;
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

/** Parts of which an empty object is the same as none, so that a stack can take back what the project's own config gives. */
export const emptiedParts: readonly string[] = [
  "broker",
  "cluster",
  "network",
  "networks",
  "retryIntervals",
  "holdQueues",
  "delayedStore",
  "delayGateway",
];

/** Parts in which a text that is not allowed is shown, as their own options do: names and words, and never a way to a broker. */
const SHOWN =
  /^(networks?|retryIntervals|workQueues|holdQueues|delayedRetryQueues|delayedExchanges|errorQueues|delayedStore|delayGateway|allow|cluster\.(?!password|managementUrl|config))\b/;

/**
 * Reads a stack's config; what follows from several of its parts is left to whoever uses it.
 * @param given its values by key, without the project's name before them
 * @throws DelayTopologyError for a key that nobody reads, or the first value that is not as its schema has it; a text
 * that could be a mistyped secret is in no message
 */
export function readStackConfig(given: Readonly<Record<string, unknown>>): StackConfig {
  checkStackConfigKeys(Object.keys(given));
  const isSet = ([key, value]: [string, unknown]): boolean =>
    value !== undefined && value !== null && !(emptiedParts.includes(key) && isEmpty(value));
  const set = Object.fromEntries(Object.entries(given).filter(isSet));
  // What a schema passes over, as __proto__, would be no network at all.
  if (typeof set.networks === "object" && set.networks !== null)
    Object.keys(set.networks).forEach((name) => checkNetworkName("networks", name));
  try {
    const config = readOptions(stackConfigSchema(), set, "config");
    checkTogether(config);
    return config;
  } catch (error) {
    if (!(error instanceof DelayTopologyError) || SHOWN.test(error.property)) throw error;
    throw error.withoutText();
  }
}

/**
 * Looks for keys of a stack's config that nobody reads: a misspelled `endpoints` would be none, so that all of them leave the stack.
 * @param keys without the project's name before them
 * @throws DelayTopologyError with the known key that is nearest
 */
export function checkStackConfigKeys(keys: readonly string[]): void {
  const allowedKeys = Object.keys(stackConfigSchema().shape);
  const unknown = keys.find((key) => !allowedKeys.includes(key));
  if (unknown === undefined) return;
  const meant = nearest(unknown, allowedKeys);
  const known = allowedKeys.join(", ");
  const allowed =
    meant === undefined
      ? `nothing reads it; known keys are ${known}`
      : `nothing reads it; did you mean ${meant}? Known keys are ${known}`;
  throw new DelayTopologyError("config", unknown, allowed, shownName(unknown) !== unknown);
}

/**
 * A stack's config without those values that are secrets, for whoever needs none of them.
 * @param given its values by key, without the project's name before them
 * @throws DelayTopologyError for a secret that other values exclude, which nobody sees afterwards
 */
export function withoutConfigSecrets(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const cluster = given.cluster as { mode?: unknown; erlangCookie?: unknown } | null | undefined;
  runWithin("cluster", () => checkErlangCookiePlace(cluster?.mode, cluster?.erlangCookie ?? undefined));
  return withoutSecrets(stackConfigSchema(), given);
}

/** What several parts of a config say together. */
function checkTogether(config: StackConfig): void {
  const { broker, createVhost, endpoints = [], retryIntervals, cluster, delayedStore, delayGateway } = config;
  if (cluster !== undefined) {
    checkOnePlace(broker);
    runWithin("cluster", () => checkCluster(cluster));
  }
  if (delayedStore !== undefined)
    runWithin("delayedStore", () => checkProcess("store", delayedStore, cluster !== undefined));
  if (delayGateway !== undefined)
    runWithin("delayGateway", () => checkProcess("gateway", delayGateway, cluster !== undefined));
  if (createVhost && (broker?.vhost ?? "/") === "/") {
    throw new DelayTopologyError("createVhost", true, "the vhost / is always there; name another one in broker.vhost");
  }
  endpoints.forEach(({ name, retries, errorQueue }, index) => {
    const place = `endpoints[${index}]`;
    if (retries && retryIntervals === undefined)
      throw new DelayTopologyError(`${place}.retries`, true, "retryIntervals must say for which intervals");
    if (errorQueue !== undefined && errorQueue === name)
      throw new DelayTopologyError(
        `${place}.errorQueue`,
        errorQueue,
        "it is the endpoint's own queue; name another one",
      );
  });
}

/** Beside a cluster of its stack's own, a broker would be in two places. */
function checkOnePlace(broker: StackConfig["broker"]): void {
  const elsewhere = (["managementUrl", "username", "caCertFile", "insecure"] as const).find(
    (key) => broker?.[key] !== undefined,
  );
  if (elsewhere === undefined) return;
  const instead = elsewhere === "insecure" ? "give cluster.caCertFile" : `give cluster.${elsewhere}`;
  const allowed = `this stack makes its own cluster, ${instead}`;
  throw new DelayTopologyError(`broker.${elsewhere}`, broker?.[elsewhere], allowed, true);
}

/** Beside a cluster of its stack's own, a process finds the broker by itself. */
function checkProcess(
  process: "store" | "gateway",
  { user, deployment }: { user?: string; deployment?: { amqpUrl?: string } },
  hasCluster: boolean,
): void {
  if (deployment === undefined) return;
  if (!hasCluster) checkBrokerAddress("deployment.amqpUrl", deployment.amqpUrl);
  checkDeployedUser(process, user !== undefined);
}

/** A refusal of a part says where the part stands in the config. */
function runWithin(part: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof DelayTopologyError ? error.within(part) : error;
  }
}

/**
 * Looks at the words of `allow`.
 * @param words those that there are, beside pairs of names
 * @throws DelayTopologyError that lists them
 */
export function checkAllowed(allow: readonly string[], words: readonly string[]): void {
  const index = allow.findIndex((word) => !words.includes(word) && !NAME_PAIR.test(word));
  if (index < 0) return;
  const allowed = `it must be one of ${words.join(", ")}, or a pair of names like Sales with Europe.Sales`;
  throw new DelayTopologyError(`allow[${index}]`, allow[index], allowed);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0 && !Array.isArray(value);
}
