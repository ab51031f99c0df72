import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Checked } from "@rabbitmq-delay/broker";
import {
  DelayNetwork,
  DelayNetworkOptions,
  DelayedStoreConfig,
  RetryConfig,
  checkStackConfig,
  delayNetwork,
  delayedStoreOf,
  openedJson,
  retryDescriptors,
} from "@rabbitmq-delay/topology";
import { YAMLParseError, parse } from "yaml";
import { CommandError, exitCodes } from "./failure";
import { readText } from "./files";

/** The option that names the file, for messages. */
const OPTION = "--stack-config";

/** The topology in a stack's config file. */
export interface StackConfig extends Checked {
  network: DelayNetwork;
  /** The vhost of its broker. */
  vhost: string;
}

interface RawEndpoint {
  name: string;
  type?: "queue" | "exchange";
  patterns?: string[];
  retries?: boolean;
}

/**
 * Reads `Pulumi.STACK.yaml` as this project's program does.
 * @throws CommandError for a file that is not a stack's config, DelayTopologyError for anything that the topology refuses
 */
export function readStackConfig(file: string): StackConfig {
  const config = valuesOf(file, readText(file, OPTION));
  if (config.network === undefined) {
    throw new CommandError(exitCodes.badInput, `${OPTION}: ${file} has no network; is it a stack of this program?`);
  }
  for (const name of ["endpoints", "workQueues", "delayedRetryQueues"]) {
    if (!Array.isArray(config[name] ?? [])) {
      throw new CommandError(exitCodes.badInput, `${OPTION}: ${name} of ${file} is not a list`);
    }
    ((config[name] ?? []) as unknown[]).forEach((entry, index) => checkObject(file, `${name}[${index}]`, entry));
  }
  for (const name of ["network", "broker", "retryIntervals", "holdQueues", "delayedStore"]) {
    if (config[name] !== undefined) checkObject(file, name, config[name]);
  }
  checkStackConfig(config);
  const endpoints = (config.endpoints ?? []) as RawEndpoint[];
  const { vhost = "/" } = (config.broker ?? {}) as { vhost?: string };
  return {
    network: delayNetwork({ ...(config.network as DelayNetworkOptions), vhost }),
    endpoints: endpoints.map(({ name, type, patterns, retries }) => ({ name, type, patterns, retries })),
    retries: retryDescriptors(config as RetryConfig),
    store: delayedStoreOf(config.delayedStore as DelayedStoreConfig | undefined),
    vhost,
    allow: Array.isArray(config.allow) ? config.allow.map(String) : [],
  };
}

/** The config's values without the project's name before them; a value may be JSON text, as `pulumi config set` writes it. */
function valuesOf(file: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new CommandError(
      exitCodes.badInput,
      // The parser's message may quote the text.
      `${OPTION}: ${file} is not YAML (line ${(error as YAMLParseError).linePos?.[0].line ?? "unknown"})`,
    );
  }
  const config = (value as { config?: Record<string, unknown> } | null)?.config ?? {};
  checkObject(file, "config", config);
  const project = projectOf(file, Object.keys(config));
  return Object.fromEntries(
    Object.entries(config)
      .filter(([key]) => key.startsWith(`${project}:`))
      .map(([key, given]) => [key.slice(project.length + 1), openedJson(given)]),
  );
}

/** The project whose config it is: the one named in the `Pulumi.yaml` beside the file, else the one that has a network. */
function projectOf(file: string, keys: string[]): string {
  const named = projectNameBeside(file);
  if (named !== undefined) return named;
  const projects = keys.filter((key) => key.endsWith(":network")).map((key) => key.slice(0, -":network".length));
  const ours = projects.find((project) => project === PROJECT);
  const [first = PROJECT, ...others] = ours === undefined ? projects : [ours];
  if (others.length === 0) return first;
  throw new CommandError(
    exitCodes.badInput,
    `${OPTION}: ${file} has a network of more than one project (${projects.join(", ")}); put it beside its Pulumi.yaml, which names the one`,
  );
}

/** The name of this project's own program. */
const PROJECT = "rabbitmq-delay";

function projectNameBeside(file: string): string | undefined {
  try {
    const project = parse(readFileSync(join(dirname(file), "Pulumi.yaml"), "utf8")) as { name?: unknown } | null;
    return typeof project?.name === "string" ? project.name : undefined;
  } catch {
    return undefined;
  }
}

function checkObject(file: string, property: string, value: unknown): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  const kind = value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
  throw new CommandError(exitCodes.badInput, `${OPTION}: ${property} of ${file} is ${kind}; it must be an object`);
}
