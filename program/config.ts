import * as pulumi from "@pulumi/pulumi";
import { BrokerAddress, checkAddress } from "@rabbitmq-delay/broker";
import {
  DelayTopologyError,
  StackConfig,
  checkAllowed,
  checkStackConfigKeys,
  readStackConfig,
} from "@rabbitmq-delay/topology";
import { VHOST_RULE } from "pulumi-rabbitmq-delay/program";
import { allowances } from "./allowances";

/** Parts of a config that have a value where the stack gives none. */
type WithDefault =
  | "workQueues"
  | "delayedRetryQueues"
  | "createVhost"
  | "removal"
  | "production"
  | "allow"
  | "endpoints"
  | "formerOwners";

/** The stack's config, checked, with what the environment adds to it. */
export interface ProgramConfig
  extends Omit<StackConfig, "broker" | WithDefault>, Required<Pick<StackConfig, WithDefault>> {
  /** Where the broker is; without meaning where the stack makes a cluster. */
  broker: BrokerAddress;
  /** The vhost that all of the stack is in. */
  vhost: string;
}

/** A mistake in what several parts of a stack's config say together; the message is one line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads the stack's config; what says where the broker is may come from the environment instead (RABBITMQ_MANAGEMENT_URL,
 * RABBITMQ_USERNAME, RABBITMQ_PASSWORD, RABBITMQ_CACERT).
 * @throws DelayTopologyError for a value that can't be, ConfigError for values that contradict one another; neither has a text in
 * its message that could be a password
 */
export function readConfig(config = new pulumi.Config(), environment = process.env): ProgramConfig {
  const given = readStackConfig(valuesOf(config));
  const { broker = {}, cluster, createVhost = false, allow = [], production = false, endpoints = [] } = given;
  checkAllowed(allow, allowances);
  checkPlace(broker, cluster !== undefined, createVhost);
  const brokerPassword = given.brokerPassword || undefined;
  const storePassword = (given.storePassword || undefined) ?? environment.RABBITMQ_STORE_PASSWORD;
  const managementUrl = broker.managementUrl ?? environment.RABBITMQ_MANAGEMENT_URL;
  checkAddresses({ "broker.managementUrl": managementUrl, "cluster.managementUrl": cluster?.managementUrl });
  checkStorePassword(given, storePassword);
  checkRetried(given);
  if (production && cluster === undefined && managementUrl === undefined) {
    throw new ConfigError(
      "broker.managementUrl: it is not set; a production stack has no default, give it or RABBITMQ_MANAGEMENT_URL",
    );
  }
  return {
    ...given,
    broker: {
      managementUrl: managementUrl ?? "http://127.0.0.1:15672",
      username: broker.username ?? environment.RABBITMQ_USERNAME ?? "guest",
      password: brokerPassword ?? environment.RABBITMQ_PASSWORD ?? "guest",
      caCertFile: broker.caCertFile ?? environment.RABBITMQ_CACERT,
      insecure: broker.insecure,
    },
    brokerPassword,
    storePassword,
    vhost: broker.vhost ?? "/",
    createVhost,
    production,
    allow,
    endpoints,
    removal: given.removal ?? "retain",
    workQueues: given.workQueues ?? [],
    delayedRetryQueues: given.delayedRetryQueues ?? [],
    formerOwners: given.formerOwners ?? [],
  };
}

/** All that is set, whether somebody reads it or not; secrets and words as they are, the rest read as JSON. */
function valuesOf(config: pulumi.Config): Record<string, unknown> {
  const start = `${config.name}:`;
  const keys = Object.keys(pulumi.runtime.allConfig())
    .filter((key) => key.startsWith(start))
    .map((key) => key.slice(start.length));
  // The engine asks for each key that a program reads whether it is a secret.
  checkStackConfigKeys(keys);
  return Object.fromEntries(keys.map((key) => [key, TEXTS.includes(key) ? config.get(key) : read(config, key)]));
}

/** Keys whose values are texts, also where they look like JSON. */
const TEXTS = ["removal", "brokerPassword", "storePassword"];

/** A value read as JSON, or the text that it is. The SDK's own reading shows the whole value when it can't be read. */
function read(config: pulumi.Config, key: string): unknown {
  const value = config.get(key);
  if (value === undefined) return undefined;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

/** What would contradict itself: a broker in two places, or a vhost that is always there. */
function checkPlace(broker: NonNullable<StackConfig["broker"]>, hasCluster: boolean, createVhost: boolean): void {
  const elsewhere = (["managementUrl", "username", "caCertFile", "insecure"] as const).find(
    (key) => broker[key] !== undefined,
  );
  if (hasCluster && elsewhere !== undefined) {
    const instead = elsewhere === "insecure" ? "give cluster.caCertFile" : `give cluster.${elsewhere}`;
    const allowed = `this stack makes its own cluster, ${instead}`;
    throw new DelayTopologyError(`broker.${elsewhere}`, broker[elsewhere], allowed, true);
  }
  if (broker.vhost?.includes("@")) throw new DelayTopologyError("broker.vhost", broker.vhost, VHOST_RULE, true);
  if (createVhost && (broker.vhost ?? "/") === "/") {
    throw new ConfigError(
      "createVhost: true is not allowed for the vhost /, which is always there; name one in broker.vhost",
    );
  }
}

function checkAddresses(addresses: Record<string, unknown>): void {
  for (const [property, address] of Object.entries(addresses)) {
    if (typeof address === "string") checkAddress(property, address);
  }
}

function checkStorePassword({ delayedStore }: StackConfig, storePassword: string | undefined): void {
  if (delayedStore?.user === undefined || storePassword !== undefined) return;
  throw new ConfigError(
    `delayedStore.user: ${delayedStore.user} needs a password; pulumi config set --secret storePassword, or give RABBITMQ_STORE_PASSWORD`,
  );
}

function checkRetried({ endpoints = [], retryIntervals }: StackConfig): void {
  const retried = endpoints.find(({ retries }) => retries);
  if (retried === undefined || retryIntervals !== undefined) return;
  throw new ConfigError(`endpoints: ${retried.name} has retries: true, so retryIntervals must say for which intervals`);
}
