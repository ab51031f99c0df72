import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  BrokerCheckError,
  Checked,
  allowances,
  checkAddressesHoldNoLogin,
  checkConfigAddresses,
} from "@rabbitmq-delay/broker";
import { DelayTopologyError, Endpoint } from "@rabbitmq-delay/topology";
import {
  StackConfig,
  boundType,
  checkAllowed,
  limitingPreset,
  openConfigValue,
  ownErrorQueue,
  planStack,
  readStackConfig,
  secretKeys,
  shownName,
  withoutConfigSecrets,
} from "@rabbitmq-delay/topology/stack";
import type { YAMLParseError } from "yaml";
import { parseAsEngine } from "./engineYaml";
import { CommandError, exitCodes } from "./failure";
import { readText } from "./files";

/** The option that names the file, for messages. */
const OPTION = "--stack-config";

/** The topology in a stack's config file. */
export interface ConfiguredStack extends Checked {
  /** The vhost of its broker. */
  vhost: string;
}

/**
 * Reads `Pulumi.STACK.yaml` as this project's program does.
 * @throws CommandError for a file that is not a stack's config, or that has anything the topology refuses
 */
export function readStackFile(file: string): ConfiguredStack {
  const values = valuesOf(file, readText(file, OPTION));
  try {
    const config = withoutSecrets(file, values);
    checkAddressesHoldNoLogin(config);
    const read = readStackConfig(config);
    checkAllowed(read.allow ?? [], allowances);
    checkConfigAddresses(read);
    return configuredStack(read);
  } catch (error) {
    if (!(error instanceof DelayTopologyError || error instanceof BrokerCheckError)) throw error;
    throw new CommandError(exitCodes.badInput, `${OPTION}: ${file}: ${error.message}`);
  }
}

function configuredStack(config: StackConfig): ConfiguredStack {
  const { endpoints = [], errorQueues, broker, allow = [] } = config;
  const vhost = broker?.vhost ?? "/";
  const { networks, created, retries, exchanges, store, gateway } = planStack(config, vhost);
  const ownErrorQueues = endpoints
    .map((endpoint) => ownErrorQueue(endpoint, errorQueues))
    .filter((name) => name !== undefined);
  const returned = gateway === undefined ? [] : [{ name: gateway.returnQueue }];
  return {
    networks: networks.networks.map((one) => ({
      network: one.network,
      isAdopted: one.options.adopt,
      endpoints: [
        ...endpoints
          .filter((endpoint) => networks.joinedBy(endpoint).includes(one))
          .map((endpoint) => ({ ...boundEndpoint(endpoint), type: boundType(endpoint) })),
        ...returned,
      ],
    })),
    endpoints: endpoints.map(({ retries: isRetried, ...endpoint }) => ({
      ...boundEndpoint(endpoint),
      retries: isRetried,
    })),
    created: created.map(({ endpoint, entities }) => ({
      endpoint: endpoint.name,
      entities,
      isAdopted: endpoint.adopt,
      queuePolicy: endpoint.queuePolicy,
      preset: limitingPreset(networks.joinedBy(endpoint)),
    })),
    retries,
    exchanges,
    store,
    gateway,
    errorQueues: [...new Set([...(errorQueues ?? []), ...ownErrorQueues])],
    vhost,
    allow,
  };
}

function boundEndpoint({ name, type, patterns, client }: Endpoint): Endpoint {
  return { name, type, patterns, client };
}

/** The config's values without the project's name before them; a value may be JSON text, as `pulumi config set` writes it. */
function valuesOf(file: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseAsEngine(text);
  } catch (error) {
    const { code, linePos } = error as YAMLParseError;
    // The parser's message may quote the text.
    const line = linePos?.[0].line ?? "unknown";
    const reason =
      code === "TAG_RESOLVE_FAILED"
        ? `line ${line} of ${file} has a date, or what is neither text nor number, which the engine does not read as it is written; put ` +
          "quotes around it"
        : `${file} is not YAML (line ${line})`;
    throw new CommandError(exitCodes.badInput, `${OPTION}: ${reason}`);
  }
  const config = (value as { config?: Record<string, unknown> } | null)?.config ?? {};
  checkObject(file, "config", config);
  const project = projectOf(file, Object.keys(config));
  const values = new Map<string, unknown>();
  for (const [written, given] of Object.entries(config)) {
    const key = keyOf(project, written);
    if (key === undefined) continue;
    if (values.has(key)) {
      const reason = `${file} has ${shownName(key)} twice, with and without the project's name before it; leave one out`;
      throw new CommandError(exitCodes.badInput, `${OPTION}: ${reason}`);
    }
    // The engine reads 01234567 as another number, and hands on that one's digits.
    if (secretKeys.includes(key) && (typeof given === "number" || typeof given === "boolean")) {
      const kind = typeof given === "number" ? "number" : "flag";
      const reason = `${key}: this ${kind} is not allowed; it must be a text: set it with --secret, or put quotes around it`;
      throw new CommandError(exitCodes.badInput, `${OPTION}: ${file}: ${reason}`);
    }
    values.set(key, openConfigValue(key, given));
  }
  return Object.fromEntries(values);
}

/** A key of a project, or undefined for one of another. The engine takes a key without a name before it for the project's own. */
function keyOf(project: string, written: string): string | undefined {
  if (!written.includes(":")) return written;
  const [own, ...rest] = written.split(":");
  if (own !== project) return undefined;
  // As the engine once wrote it.
  return (rest.length > 1 && rest[0] === "config" ? rest.slice(1) : rest).join(":");
}

/** This command needs no secret, and reads none. */
function withoutSecrets(file: string, values: Record<string, unknown>): Record<string, unknown> {
  const read = withoutConfigSecrets(values);
  Object.entries(read).forEach(([key, given]) => checkReadable(file, key, given));
  if ((read.network ?? read.networks ?? undefined) !== undefined) return read;
  throw new CommandError(exitCodes.badInput, `${OPTION}: ${file} has no network; is it a stack of this program?`);
}

/** The project whose config it is: the one named in the `Pulumi.yaml` beside the file, else the one that has a network. */
function projectOf(file: string, keys: string[]): string {
  const named = projectNameBeside(file);
  if (named !== undefined) return named;
  const form = /:(config:)?networks?$/;
  const projects = [...new Set(keys.filter((key) => form.test(key)).map((key) => key.replace(form, "")))];
  const ours = projects.find((project) => project === PROJECT);
  const [first = PROJECT, ...others] = ours === undefined ? projects : [ours];
  if (others.length === 0) return first;
  throw new CommandError(
    exitCodes.badInput,
    `${OPTION}: ${file} has a network of more than one project (${projects.join(", ")}); put it beside its Pulumi.yaml, which names the one`,
  );
}

/** The name of this project's own program. */
export const PROJECT = "rabbitmq-delay";

function projectNameBeside(file: string): string | undefined {
  try {
    const project = parseAsEngine(readFileSync(join(dirname(file), "Pulumi.yaml"), "utf8")) as {
      name?: unknown;
    } | null;
    return typeof project?.name === "string" ? project.name : undefined;
  } catch {
    return undefined;
  }
}

/** @throws CommandError for a value that is encrypted: without it, another topology would be checked than the stack's */
function checkReadable(file: string, key: string, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Object.keys(value).join() !== "secure") {
    const isList = Array.isArray(value);
    Object.entries(value).forEach(([name, part]) =>
      checkReadable(file, isList ? `${key}[${name}]` : `${key}.${shownName(name)}`, part),
    );
    return;
  }
  const reason = `${key} of ${file} is encrypted, and only the engine can read it; keep no secret in it, and set it without --secret`;
  throw new CommandError(exitCodes.badInput, `${OPTION}: ${reason}`);
}

function checkObject(file: string, property: string, value: unknown): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  const kind = value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
  throw new CommandError(exitCodes.badInput, `${OPTION}: ${property} of ${file} is ${kind}; it must be an object`);
}
