import type { z } from "zod";
import { userName } from "./access/credentials";
import { DelayTopologyError, shownName } from "./errors";
import { delayedExchangeSchema } from "./exchange/delayedExchange";
import { clusterSchema } from "./kubernetes/cluster";
import {
  checkBrokerAddress,
  checkDeployedUser,
  gatewayDeploymentSchema,
  storeDeploymentSchema,
} from "./kubernetes/deployment";
import { checkCluster, checkErlangCookiePlace } from "./kubernetes/readCluster";
import { endpointSchema } from "./network/endpointSchema";
import { networkSchema } from "./network/options";
import { NAME_PAIR } from "./network/topic";
import { removals } from "./removal";
import { delayedRetrySchema } from "./retry/delayedRetry";
import { checkErrorQueueNames } from "./retry/errorQueue";
import { holdQueuesSchema } from "./retry/holdQueues";
import { retryIntervalsSchema } from "./retry/retryIntervals";
import { workQueueSchema } from "./retry/workRetry";
import { adopt } from "./schema/adopt";
import { flag, listBy, object, oneOf, text, textBy, filePath } from "./schema/fields";
import { nearest } from "./schema/nearest";
import { readOptions } from "./schema/options";
import { secret as markSecret, withoutSecrets } from "./schema/secret";
import { delayGatewaySchema } from "./store/delayGateway";
import { delayedStoreSchema } from "./store/delayedStore";
import { lazily, zod } from "./schema/zod";
import { checkStackVhost } from "./vhost";

/** Where the broker of a stack is. */
export const brokerSchema = lazily(() =>
  object({
    managementUrl: zod()
      .url({ protocol: /^https?$/, error: "it must be an http or https address" })
      .optional()
      .describe("The management API; default `RABBITMQ_MANAGEMENT_URL`, else `http://127.0.0.1:15672`."),
    username: text().optional().describe("Who declares; default `RABBITMQ_USERNAME`, else `guest`."),
    vhost: textBy(checkStackVhost).optional().describe("The vhost that all of the stack is in; default `/`."),
    caCertFile: filePath()
      .optional()
      .describe("File with the certificate authority of an https address, in PEM; default `RABBITMQ_CACERT`."),
    insecure: flag().optional().describe("Whether any certificate is taken for the broker's; default false."),
  }),
);

/** An external store as a stack's config has it. */
export const storeSchema = lazily(() => {
  const { name: storeName, ...brokerSide } = delayedStoreSchema().shape;
  return object({
    storeName,
    ...brokerSide,
    user: userName()
      .optional()
      .describe("User of the process that runs the store, made with the least rights; default: none."),
    adopt: flag().optional().describe("Whether a user that is on the broker already is taken over; default false."),
    deployment: object({ ...storeDeploymentSchema().shape, amqpUrl: amqpUrlInStack() })
      .optional()
      .describe("Its process on Kubernetes, beside its database; needs `user`. Default: none."),
  });
});

function amqpUrlInStack(): z.ZodOptional<z.ZodString> {
  return textBy(checkBrokerAddress)
    .optional()
    .describe(
      "The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`; default that of the stack's own cluster, and needed without one.",
    );
}

/** A gateway as a stack's config has it. */
export const gatewayInStack = lazily(() => {
  const { name: gatewayName, ...brokerSide } = delayGatewaySchema().shape;
  return object({
    gatewayName,
    network: text()
      .optional()
      .describe("Name of the network that messages wait in, one of the stack's; default: `current`."),
    ...brokerSide,
    user: userName()
      .optional()
      .describe("User of the process that runs the gateway, made with the least rights; default: none."),
    adopt: flag().optional().describe("Whether a user that is on the broker already is taken over; default false."),
    deployment: object({ ...gatewayDeploymentSchema().shape, amqpUrl: amqpUrlInStack() })
      .optional()
      .describe("Its process on Kubernetes; needs `user`. Default: none."),
  });
});

/** A network of a stack, which is in the stack's vhost. */
export const networkInStack = lazily(() =>
  object({
    ...networkSchema().shape,
    adopt: adopt("network"),
    vhost: zod().never({ error: "give it as broker.vhost" }).optional().describe("Given as `broker.vhost`."),
  }),
);

/** A cluster that a stack makes; what the stack says for all of itself is not said here once more. */
const clusterInStack = lazily(() =>
  object({
    // First, so that a secret in its place is what is spoken of.
    password: zod()
      .never({ error: "give it as brokerPassword, a secret" })
      .optional()
      .describe("Given as `brokerPassword`."),
    removal: zod()
      .never({ error: "give it as removal, for all of the stack" })
      .optional()
      .describe("Given as `removal`, for all of the stack."),
    ...clusterSchema().omit({ password: true, removal: true }).shape,
  }),
);

/** A work queue of a stack. */
const workQueueInStack = lazily(() => object({ ...workQueueSchema().shape, adopt: adopt("exchange and queues") }));

function checkNetworkName(property: string, name: unknown): void {
  if (typeof name === "string" && /^[A-Za-z][A-Za-z0-9._-]{0,99}$/.test(name)) return;
  const allowed = "a letter, and up to 99 letters, digits, dots, _ and -";
  throw new DelayTopologyError(property, name, `a network's name must be ${allowed}`);
}

/** What a secret is in a config: the text once the engine has decrypted it, which is JSON where the secret was given parts. */
function secret(): z.ZodString {
  const error = "it must be a text without parts, and no JSON of an object or a list";
  return markSecret(
    zod()
      .string({ error: "it must be a text" })
      .refine((text) => !hasParts(text), { error }),
  );
}

function hasParts(text: string): boolean {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

/** All that a stack's config may have; the last three are secrets. */
export const stackConfigSchema = lazily(() =>
  object({
    broker: brokerSchema().optional().describe("Where the broker is; not for a stack that makes its own cluster."),
    cluster: clusterInStack()
      .optional()
      .describe("A cluster on Kubernetes that this stack makes, as `RabbitMqClusterArgs`, but for its secrets."),
    createVhost: flag().optional().describe("Whether to make the vhost, too; default false."),
    network: networkInStack()
      .optional()
      .describe(
        "The delay network; needed in each stack, here or among `networks`, which is for several. What stands here is called by its prefix.",
      ),
    networks: zod()
      .record(textBy(checkNetworkName), networkInStack(), { error: "it must be an object with a network by each name" })
      .optional()
      .describe(
        "Further delay networks by name, each as `network`, e.g. the one that takes its place. The names stand on no broker.",
      ),
    current: text()
      .optional()
      .describe("Name of the network that publishers use, the output `delayNetwork`; needed where there are several."),
    retryIntervals: retryIntervalsSchema().optional().describe("Interval queues; default: none."),
    workQueues: zod()
      .array(workQueueInStack(), { error: "it must be a list" })
      .optional()
      .describe("Work queues with their retry queues; default: none."),
    holdQueues: holdQueuesSchema().optional().describe("Hold queues; default: none."),
    delayedRetryQueues: zod()
      .array(delayedRetrySchema(), { error: "it must be a list" })
      .optional()
      .describe("Queues with the broker's own delayed retry, from RabbitMQ 4.3.0; default: none."),
    delayedExchanges: zod()
      .array(delayedExchangeSchema(), { error: "it must be a list" })
      .optional()
      .describe(
        "Exchanges that delay what is published to them with the header `x-delay`, as those of the delayed-message plugin did; default: none.",
      ),
    errorQueues: listBy(text(), checkErrorQueueNames)
      .optional()
      .describe(
        "Names of queues that many services share, as NServiceBus's `error` and `audit`: each is declared once, as a quorum queue behind a fanout exchange of its name; default: none.",
      ),
    delayedStore: storeSchema().optional().describe("The broker's side of an external store; default: none."),
    delayGateway: gatewayInStack()
      .optional()
      .describe(
        "The broker's side of a gateway, which lets messages with any `x-delay` wait in a network; default: none.",
      ),
    removal: oneOf(removals)
      .optional()
      .describe(
        "What happens on the broker to what leaves the config: `retain` (default) leaves it there with its messages, `delete` deletes it with them.",
      ),
    production: flag()
      .optional()
      .describe("Whether to refuse what no production broker should have, unless `allow` names it; default false."),
    allow: zod()
      .array(text(), { error: "it must be a list" })
      .optional()
      .describe(
        "Checks of `production` to waive, by the word that the refusal names; pairs of endpoint names that a vendor's clients may mix up (`Sales with Europe.Sales`); and faults of the broker whose warnings to silence (docs/check.md).",
      ),
    endpoints: zod()
      .array(endpointSchema(), { error: "it must be a list" })
      .optional()
      .describe("Queues and exchanges that receive delayed messages."),
    formerOwners: zod()
      .array(text(), { error: "it must be a list" })
      .optional()
      .describe("What this stack was called before, e.g. `orders/prod`: claims of that name are its own."),
    brokerPassword: secret()
      .optional()
      .describe("Password of `broker.username`, a secret; default `RABBITMQ_PASSWORD`."),
    storePassword: secret()
      .optional()
      .describe("Password of `delayedStore.user`, a secret; default `RABBITMQ_STORE_PASSWORD`."),
    gatewayPassword: secret()
      .optional()
      .describe("Password of `delayGateway.user`, a secret; default `RABBITMQ_GATEWAY_PASSWORD`."),
  }),
);

/** A stack's config as it is written. */
export type StackConfigOptions = z.input<ReturnType<typeof stackConfigSchema>>;
/** A stack's config with the defaults that do not depend on anything else. */
export type StackConfig = z.output<ReturnType<typeof stackConfigSchema>>;
/** One endpoint of a stack's config. */
export type EndpointConfig = z.output<ReturnType<typeof endpointSchema>>;

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
 * @throws DelayTopologyError for a key that nobody reads, or the first value that is not as {@link stackConfigSchema} has it; a text
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
