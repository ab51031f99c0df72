import * as pulumi from "@pulumi/pulumi";
import { BrokerAddress, checkAddress } from "@rabbitmq-delay/broker";
import { VHOST_RULE } from "pulumi-rabbitmq-delay/program";
import {
  BrokerConfigKey,
  EndpointConfigKey,
  NAME_PAIR,
  StackConfigKey,
  checkNetworkConfig,
  checkStackConfigKeys,
} from "@rabbitmq-delay/topology";
import { z } from "zod";
import { Allowance, allowances } from "./allowances";

const text = z.string().min(1);
/** The command's check knows the same keys: a key that is missing here or there fails to compile. */
type Keys<Key extends string> = Record<Key, z.ZodType>;

const endpoint = z.strictObject({
  /** Name of the queue or exchange. */
  name: text,
  type: z.enum(["queue", "exchange"]).optional(),
  patterns: z.array(text).min(1).optional(),
  /** Whether this stack declares the queue. */
  createQueue: z.boolean().optional(),
  queueType: z.enum(["quorum", "classic"]).optional(),
  /** Whether the queue gets its failed messages back from the interval queues. */
  retries: z.boolean().optional(),
} satisfies Keys<EndpointConfigKey>);

const schema = z.strictObject({
  broker: z
    .strictObject({
      managementUrl: z.url({ protocol: /^https?$/ }).optional(),
      username: text.optional(),
      vhost: text.optional(),
      caCertFile: text.optional(),
      insecure: z.boolean().optional(),
    } satisfies Keys<BrokerConfigKey>)
    .optional(),
  /** What a RabbitMqCluster takes, but for its secrets; the component checks it. */
  cluster: z.looseObject({}).optional(),
  /** Whether to make the vhost, too. */
  createVhost: z.boolean().optional(),
  /** What a DelayLevelTopology takes; the component checks it. */
  network: z.looseObject({ preset: z.string() }),
  /** What a RetryIntervalQueues takes; the component checks it. */
  retryIntervals: z.looseObject({}).optional(),
  /** What WorkRetryQueues take, each with a name; the component checks it. */
  workQueues: z.array(z.looseObject({ queue: text })).optional(),
  /** What HoldQueues take; the component checks it. */
  holdQueues: z.looseObject({}).optional(),
  /** What DelayedRetryQueues take, each but for the broker; the component checks it. */
  delayedRetryQueues: z.array(z.looseObject({ queue: text })).optional(),
  /** What a DelayedMessageStore takes, but for its credentials; the component checks it. */
  delayedStore: z
    .looseObject({ user: text.optional(), adopt: z.boolean().optional(), deployment: z.looseObject({}).optional() })
    .optional(),
  removal: z.enum(["retain", "delete"]).optional(),
  /** Whether to refuse what no production broker should have; see production.ts. */
  production: z.boolean().optional(),
  /**
   * What of that is wanted all the same, and pairs of names that a vendor's clients mix up and that are meant all the same
   * (`Sales with Europe.Sales`).
   */
  allow: z
    .array(
      z
        .string()
        .refine(
          (word) => allowances.includes(word as Allowance) || NAME_PAIR.test(word),
          `it must be one of ${allowances.join(", ")}, or a pair of names like Sales with Europe.Sales`,
        ),
    )
    .optional(),
  endpoints: z.array(endpoint).optional(),
  /** What this stack was called before, e.g. `orders/prod`: claims of that name are its own. */
  formerOwners: z.array(text).optional(),
} satisfies Keys<Exclude<StackConfigKey, "brokerPassword" | "storePassword">>);

/** One endpoint of the stack's config. */
export type EndpointConfig = z.infer<typeof endpoint>;

/** The stack's config, checked. */
export interface ProgramConfig {
  /** Where the broker is; without meaning where the stack makes a cluster. */
  broker: BrokerAddress;
  /** A cluster that this stack makes on Kubernetes; undefined for a broker elsewhere. */
  cluster: Record<string, unknown> | undefined;
  /** The password as the stack's config has it; undefined where it has none. */
  brokerPassword: string | undefined;
  vhost: string;
  createVhost: boolean;
  network: Record<string, unknown>;
  /** Undefined for a stack without interval queues. */
  retryIntervals: Record<string, unknown> | undefined;
  /** Work queues with retries. */
  workQueues: ({ queue: string } & Record<string, unknown>)[];
  /** Undefined for a stack without declared hold queues. */
  holdQueues: Record<string, unknown> | undefined;
  /** Queues with the broker's own delayed retry. */
  delayedRetryQueues: ({ queue: string } & Record<string, unknown>)[];
  /** Undefined for a stack without an external store. */
  delayedStore: ({ user?: string; deployment?: Record<string, unknown> } & Record<string, unknown>) | undefined;
  /** The password of the store's user. */
  storePassword: string | undefined;
  removal: "retain" | "delete";
  production: boolean;
  /** Words of `allowances`, and pairs of names, see `namePair`. */
  allow: string[];
  endpoints: EndpointConfig[];
  /** What this stack was called before. */
  formerOwners: string[];
}

/** A mistake in a stack's config; the message is one line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads the stack's config; what says where the broker is may come from the environment instead (RABBITMQ_MANAGEMENT_URL,
 * RABBITMQ_USERNAME, RABBITMQ_PASSWORD, RABBITMQ_CACERT).
 * @throws ConfigError naming the property and what is allowed; no text but a user's name and a word of `allow` is in a message,
 * because what was mistyped could be a password
 */
export function readConfig(config = new pulumi.Config(), environment = process.env): ProgramConfig {
  checkStackConfigKeys(keysOf(config));
  const given = {
    broker: read(config, "broker"),
    cluster: read(config, "cluster"),
    createVhost: read(config, "createVhost"),
    network: read(config, "network"),
    retryIntervals: read(config, "retryIntervals"),
    workQueues: read(config, "workQueues"),
    holdQueues: read(config, "holdQueues"),
    delayedRetryQueues: read(config, "delayedRetryQueues"),
    delayedStore: read(config, "delayedStore"),
    removal: config.get("removal"),
    production: read(config, "production"),
    allow: read(config, "allow"),
    endpoints: read(config, "endpoints"),
    formerOwners: read(config, "formerOwners"),
  };
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0] as z.core.$ZodIssue;
    const value = issue.path.reduce<unknown>(
      (part, key) => (part as Record<PropertyKey, unknown> | undefined)?.[key],
      given,
    );
    throw new ConfigError(
      `${issue.path.join(".")}: ${isWord(issue.path, value) ? JSON.stringify(value) : kindOf(value)} is not allowed; ${allowedBy(issue)}`,
    );
  }
  const { broker = {}, network, removal = "retain", endpoints = [], production = false, allow = [] } = parsed.data;
  checkNetworkConfig(network);
  const { formerOwners = [] } = parsed.data;
  const { retryIntervals = {}, workQueues = [], holdQueues = {}, delayedRetryQueues = [] } = parsed.data;
  const { delayedStore = {}, cluster = {}, createVhost = false } = parsed.data;
  const hasCluster = Object.keys(cluster).length > 0;
  checkPlace(broker, hasCluster, createVhost);
  const addresses = {
    "broker.managementUrl": broker.managementUrl ?? environment.RABBITMQ_MANAGEMENT_URL,
    "cluster.managementUrl": cluster.managementUrl,
  };
  for (const [property, address] of Object.entries(addresses)) {
    if (typeof address === "string") checkAddress(property, address);
  }
  const storePassword = (config.get("storePassword") || undefined) ?? environment.RABBITMQ_STORE_PASSWORD;
  if (delayedStore.user !== undefined && storePassword === undefined) {
    throw new ConfigError(
      `delayedStore.user: ${delayedStore.user} needs a password; pulumi config set --secret storePassword, or give RABBITMQ_STORE_PASSWORD`,
    );
  }
  const hasIntervals = Object.keys(retryIntervals).length > 0;
  const retried = endpoints.find(({ retries }) => retries);
  if (retried !== undefined && !hasIntervals) {
    throw new ConfigError(
      `endpoints: ${retried.name} has retries: true, so retryIntervals must say for which intervals`,
    );
  }
  if (production && !hasCluster && (broker.managementUrl ?? environment.RABBITMQ_MANAGEMENT_URL) === undefined) {
    throw new ConfigError(
      "broker.managementUrl: it is not set; a production stack has no default, give it or RABBITMQ_MANAGEMENT_URL",
    );
  }
  return {
    broker: {
      managementUrl: broker.managementUrl ?? environment.RABBITMQ_MANAGEMENT_URL ?? "http://127.0.0.1:15672",
      username: broker.username ?? environment.RABBITMQ_USERNAME ?? "guest",
      password: (config.get("brokerPassword") || undefined) ?? environment.RABBITMQ_PASSWORD ?? "guest",
      caCertFile: broker.caCertFile ?? environment.RABBITMQ_CACERT,
      insecure: broker.insecure,
    },
    cluster: hasCluster ? cluster : undefined,
    brokerPassword: config.get("brokerPassword") || undefined,
    vhost: broker.vhost ?? "/",
    createVhost,
    network,
    retryIntervals: hasIntervals ? retryIntervals : undefined,
    workQueues,
    holdQueues: Object.keys(holdQueues).length > 0 ? holdQueues : undefined,
    delayedRetryQueues,
    delayedStore: Object.keys(delayedStore).length > 0 ? delayedStore : undefined,
    storePassword,
    removal,
    production,
    allow,
    endpoints,
    formerOwners,
  };
}

/** All that is set, whether somebody reads it or not. */
function keysOf({ name }: pulumi.Config): string[] {
  const start = `${name}:`;
  const keys = Object.keys(pulumi.runtime.allConfig()).filter((key) => key.startsWith(start));
  return keys.map((key) => key.slice(start.length));
}

/**
 * A value of the config, read as JSON. The SDK's own reading shows the whole value when it can't be read.
 * @throws ConfigError that doesn't
 */
function read(config: pulumi.Config, key: string): unknown {
  const value = config.get(key);
  if (value === undefined) return undefined;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

/** Whether it is one of the words of `allow`, which are made to be read. */
function isWord([property, index]: PropertyKey[], value: unknown): boolean {
  return property === "allow" && index !== undefined && typeof value === "string";
}

/** What a message says of a value: numbers, true and false can be no secrets. */
function kindOf(value: unknown): string {
  if (["number", "boolean", "undefined"].includes(typeof value) || value === null) return String(value);
  if (Array.isArray(value)) return "this list";
  return typeof value === "object" ? "this object" : "this text";
}

/** What zod says names keys, options and types, and no value. */
function allowedBy(issue: z.core.$ZodIssue): string {
  return issue.code === "invalid_type" ? `it must be of the type ${issue.expected}` : issue.message;
}

/** What would contradict itself: a broker in two places, or a vhost that is always there. */
function checkPlace(broker: Record<string, unknown>, hasCluster: boolean, createVhost: boolean): void {
  const elsewhere = ["managementUrl", "username", "caCertFile", "insecure"].find((key) => broker[key] !== undefined);
  if (hasCluster && elsewhere !== undefined) {
    const instead = elsewhere === "insecure" ? "give cluster.caCertFile" : `give cluster.${elsewhere}`;
    throw new ConfigError(
      `broker.${elsewhere}: ${kindOf(broker[elsewhere])} is not allowed; this stack makes its own cluster, ${instead}`,
    );
  }
  if (typeof broker.vhost === "string" && broker.vhost.includes("@")) {
    throw new ConfigError(`broker.vhost: this text is not allowed; ${VHOST_RULE}`);
  }
  if (createVhost && (broker.vhost ?? "/") === "/") {
    throw new ConfigError(
      "createVhost: true is not allowed for the vhost /, which is always there; name one in broker.vhost",
    );
  }
}
