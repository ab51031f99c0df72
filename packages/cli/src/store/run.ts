import { readFileSync } from "node:fs";
import { Command } from "commander";
import type { ServiceOptions } from "rabbitmq-delay-store";
import { parse } from "yaml";
import { CommandError, exitCodes } from "../failure";
import { readJson } from "../readJson";
import { addDatabase, translated, withDatabase } from "./access";

interface RunOptions {
  config?: string;
  descriptor?: string;
  name?: string;
  forward: object[];
  toExchange: string[];
  [setting: string]: unknown;
}

/** `store run`: the service that takes delayed messages in and dispatches them when they are due. */
export function addRun(store: Command): void {
  addDatabase(
    store.command("run").description("take delayed messages in, and deliver them when they are due, until SIGTERM"),
  )
    .option("--amqp <url>", "the broker (environment: RABBITMQ_URL)")
    .option("--config <file>", "settings as YAML or JSON; flags and environment come before it")
    .option("--descriptor <file>", "the broker's side: a stack's outputs, or the descriptor in them")
    .option("--name <name>", "or its name alone; default: delayed")
    .option(
      "--forward <exchange=delivery[:type]>",
      "or an exchange that stands for a delayed one; may be repeated",
      collectForward,
      [],
    )
    .option("--to-exchange <name>", "and an exchange that messages may name in a header; may be repeated", collect, [])
    .option("--declare", "declare the broker's side, too")
    .option("--no-set-up", "don't create or migrate tables")
    .option("--http <host:port>", "health and metrics; off for none; default: 127.0.0.1:9478")
    .option(
      "--number-of-retries <number>",
      "tries before a message goes to the error queue, beside the first; default: 0",
      Number,
    )
    .option("--exit-on-critical", "end with 3 when there are nothing but failures for a while")
    .option("--log-level <level>", "trace, debug, info, warn, error, fatal or silent; default: info")
    .addHelpText(
      "after",
      "\nAll settings also come from the file and from RABBITMQ_DELAY_STORE_NAME, e.g. RABBITMQ_DELAY_STORE_BATCH_SIZE.\n" +
        "RABBITMQ_DELAY_STORE is the database, RABBITMQ_URL the broker.",
    )
    .action(run);
}

/** `store set-up`: tables alone, for a role that may create them. */
export function addSetUp(store: Command): void {
  addDatabase(store.command("set-up").description("create or migrate tables"))
    .option("--name <name>", "the store's name", "delayed")
    .action(async (options: RunOptions & { name: string; store?: string }) => {
      const address = options.store ?? process.env.RABBITMQ_DELAY_STORE;
      if (address === undefined) throw new CommandError(exitCodes.badInput, "give --store ADDRESS");
      await withDatabase({ ...options, store: address }, (opened, endpoint) => opened.setUpInfrastructure(endpoint));
      console.log("the tables are ready");
    });
}

async function run(given: RunOptions, command: Command): Promise<void> {
  const { runStoreService, serviceSchema, serviceSettings } = await import("rabbitmq-delay-store");
  const names = Object.keys(serviceSchema.shape);
  const isFlag = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  const flags = Object.fromEntries(names.filter(isFlag).map((name) => [name, given[name]]));
  const descriptor = descriptorOf(given);
  const options = {
    ...readConfig(given.config),
    ...readEnvironment(names),
    ...flags,
    ...(descriptor === undefined ? {} : { descriptor }),
  };
  const settings = await translated("--config", async () => serviceSettings(options));
  const ending = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      // Who asks twice doesn't want to wait.
      if (ending.signal.aborted) process.exit(130);
      ending.abort();
    });
  }
  await translated("store run", () => runStoreService(settings, ending.signal));
}

function descriptorOf({ descriptor, name, forward, toExchange }: RunOptions): ServiceOptions["descriptor"] {
  const isMade = name !== undefined || forward.length + toExchange.length > 0;
  if (descriptor === undefined) {
    return isMade ? { ...(name === undefined ? {} : { name }), forwards: forward, exchanges: toExchange } : undefined;
  }
  if (isMade)
    throw new CommandError(exitCodes.badInput, "--descriptor says all of the broker's side; leave the others out");
  const value = readJson("--descriptor", descriptor) as Record<string, unknown> | null;
  return (value?.kind === undefined && value?.delayedStore !== undefined ? value.delayedStore : value) as
    Record<string, unknown> | undefined;
}

function readConfig(file: string | undefined): Record<string, unknown> {
  if (file === undefined) return {};
  try {
    const value = parse(readFileSync(file, "utf8")) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    throw new CommandError(exitCodes.badInput, `--config: ${file} can't be read (${(error as Error).message})`);
  }
  throw new CommandError(exitCodes.badInput, `--config: ${file} must hold settings by their names`);
}

/** Numbers and truth values are written as such; all else is text. */
function readEnvironment(names: string[]): Record<string, unknown> {
  const variable = (name: string): string => {
    if (name === "store") return "RABBITMQ_DELAY_STORE";
    if (name === "amqp") return "RABBITMQ_URL";
    return `RABBITMQ_DELAY_STORE_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
  };
  const given = names
    .map((name) => [name, process.env[variable(name)]] as const)
    .filter((entry): entry is readonly [string, string] => entry[1] !== undefined && entry[1] !== "");
  const isJson = /^(true|false|-?\d+(\.\d+)?|\{.*\})$/s;
  return Object.fromEntries(
    given.map(([name, text]) => [name, isJson.test(text) ? (JSON.parse(text) as unknown) : text]),
  );
}

function collect(text: string, all: string[]): string[] {
  return [...all, text];
}

function collectForward(text: string, all: object[]): object[] {
  const [, exchange, delivery, type] = /^([^=]+)=(.+?)(?::(direct|topic|fanout|headers))?$/.exec(text) ?? [];
  if (exchange === undefined) {
    throw new CommandError(
      exitCodes.badInput,
      `--forward: ${JSON.stringify(text)} is not allowed; write EXCHANGE=DELIVERY or EXCHANGE=DELIVERY:TYPE`,
    );
  }
  return [...all, { exchange, delivery, ...(type === undefined ? {} : { type }) }];
}
