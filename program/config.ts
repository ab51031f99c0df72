import * as pulumi from "@pulumi/pulumi";
import { BrokerAddress, allowances, checkAddressesHoldNoLogin, checkConfigAddresses } from "@rabbitmq-delay/broker";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import {
  StackConfig,
  checkAllowed,
  checkClusterPassword,
  checkStackConfigKeys,
  checkUserPassword,
  openConfigValue,
  readStackConfig,
  secretKeys,
} from "@rabbitmq-delay/topology/stack";

/** Parts of a config that have a value where the stack gives none. */
type WithDefault =
  | "workQueues"
  | "delayedRetryQueues"
  | "delayedExchanges"
  | "errorQueues"
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
 * RABBITMQ_USERNAME, RABBITMQ_PASSWORD, RABBITMQ_CACERT), as may the passwords of processes.
 * @throws DelayTopologyError for a value that can't be, ConfigError for values that contradict one another; neither has a text in
 * its message that could be a password
 */
export function readConfig(config = new pulumi.Config(), environment = process.env): ProgramConfig {
  const values = valuesOf(config);
  checkAddressesHoldNoLogin(values);
  const given = readStackConfig(values);
  const { broker = {}, cluster, createVhost = false, allow = [], production = false, endpoints = [] } = given;
  checkAllowed(allow, allowances);
  const brokerPassword = given.brokerPassword || undefined;
  if (cluster !== undefined && brokerPassword !== undefined) checkClusterPassword("brokerPassword", brokerPassword);
  const managementUrl = broker.managementUrl ?? environment.RABBITMQ_MANAGEMENT_URL;
  checkConfigAddresses(given, managementUrl);
  const storePassword = processPassword("delayedStore", "storePassword", given, environment);
  const gatewayPassword = processPassword("delayGateway", "gatewayPassword", given, environment);
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
    gatewayPassword,
    vhost: broker.vhost ?? "/",
    createVhost,
    production,
    allow,
    endpoints,
    removal: given.removal ?? "retain",
    workQueues: given.workQueues ?? [],
    delayedRetryQueues: given.delayedRetryQueues ?? [],
    delayedExchanges: given.delayedExchanges ?? [],
    errorQueues: given.errorQueues ?? [],
    formerOwners: given.formerOwners ?? [],
  };
}

/** All that is set. The SDK's own reading shows the whole value when it can't be read. */
function valuesOf(config: pulumi.Config): Record<string, unknown> {
  const start = `${config.name}:`;
  const keys = Object.keys(pulumi.runtime.allConfig())
    .filter((key) => key.startsWith(start))
    .map((key) => key.slice(start.length));
  // The engine asks for each key that a program reads whether it is a secret.
  checkStackConfigKeys(keys);
  const values = keys.map((key) => [key, openConfigValue(key, config.get(key))] as const);
  for (const [key, value] of values) if (secretKeys.includes(key)) checkNoNumber(key, value, `${start}${key}`);
  return Object.fromEntries(values);
}

/**
 * The engine hands on the digits of the number that it read, which `01234567` is not; only of what is encrypted it is certain that it is as it
 * was given.
 * @throws DelayTopologyError for a password that may have been a number
 */
function checkNoNumber(key: string, value: unknown, fullKey: string): void {
  const { isConfigSecret } = pulumi.runtime as { isConfigSecret?: (key: string) => boolean };
  const isNumber = typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value));
  if (!isNumber || isConfigSecret?.(fullKey) === true) return;
  const allowed = `it may be a number, which the engine may have read as another one; pulumi config set --secret ${key}`;
  throw new DelayTopologyError(key, value, allowed, true);
}

/**
 * The password of a process's user, from the config or the environment, checked as its component does once all else is declared.
 * @throws ConfigError for a user without one, DelayTopologyError for one that its component would refuse
 */
function processPassword(
  part: "delayedStore" | "delayGateway",
  key: "storePassword" | "gatewayPassword",
  given: StackConfig,
  environment: NodeJS.ProcessEnv,
): string | undefined {
  const variable = key === "storePassword" ? "RABBITMQ_STORE_PASSWORD" : "RABBITMQ_GATEWAY_PASSWORD";
  const configured = given[key] || undefined;
  const password = configured ?? environment[variable];
  const user = given[part]?.user;
  if (user === undefined) return password;
  if (password !== undefined) return checkUserPassword(configured === undefined ? variable : key, password);
  throw new ConfigError(
    `${part}.user: ${user} needs a password; pulumi config set --secret ${key}, or give ${variable}`,
  );
}
