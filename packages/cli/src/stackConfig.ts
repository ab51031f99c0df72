import { readFileSync } from "node:fs";
import {
  DelayNetwork,
  DelayNetworkOptions,
  DelayedStore,
  DelayedStoreConfig,
  Endpoint,
  RetryConfig,
  RetryDescriptor,
  delayNetwork,
  delayedStoreOf,
  retryDescriptors,
} from "rabbitmq-delay-topology";
import { parse } from "yaml";
import { CommandError, exitCodes } from "./failure";
import { openedJson } from "./readJson";

/** What a stack's config file says of the topology. */
export interface StackConfig {
  network: DelayNetwork;
  endpoints: Endpoint[];
  retries: RetryDescriptor[];
  /** The broker's side of an external store. */
  store?: DelayedStore;
  /** The vhost of its broker. */
  vhost: string;
}

interface RawEndpoint {
  name: string;
  type?: "queue" | "exchange";
  patterns?: string[];
}

/**
 * Reads `Pulumi.STACK.yaml` as this project's program does.
 * @throws CommandError for a file that is none, DelayTopologyError for what the topology refuses
 */
export function readStackConfig(file: string): StackConfig {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(exitCodes.badInput, `--config: ${file} can't be read (${(error as Error).message})`);
  }
  const config = valuesOf(file, text);
  if (config.network === undefined) {
    throw new CommandError(exitCodes.badInput, `--config: ${file} has no network; is it a stack of this program?`);
  }
  for (const name of ["endpoints", "workQueues", "delayedRetryQueues"]) {
    if (!Array.isArray(config[name] ?? [])) {
      throw new CommandError(exitCodes.badInput, `--config: ${name} of ${file} is not a list`);
    }
  }
  const endpoints = (config.endpoints ?? []) as RawEndpoint[];
  const { vhost = "/" } = (config.broker ?? {}) as { vhost?: string };
  return {
    network: delayNetwork(config.network as DelayNetworkOptions),
    endpoints: endpoints.map(({ name, type, patterns }) => ({ name, type, patterns })),
    retries: retryDescriptors(config as RetryConfig),
    store: delayedStoreOf(config.delayedStore as DelayedStoreConfig | undefined),
    vhost,
  };
}

/** The config's values without the project's name before them; one may be JSON in a text, as `pulumi config set` writes it. */
function valuesOf(file: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new CommandError(
      exitCodes.badInput,
      `--config: ${file} is not YAML (${(error as Error).message.split("\n")[0]})`,
    );
  }
  const config = (value as { config?: Record<string, unknown> } | null)?.config ?? {};
  return Object.fromEntries(
    Object.entries(config).map(([key, given]) => [key.slice(key.indexOf(":") + 1), openedJson(given)]),
  );
}
