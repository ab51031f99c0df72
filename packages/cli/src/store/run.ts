import { Command } from "commander";
import { shownText } from "../errorText";
import { CommandError, exitCodes } from "../failure";
import { readConfig, readDescriptor, readEnvironment } from "./config";
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
    .option(
      "--management <url>",
      "the management API, for what --declare can't do over AMQP (environment: RABBITMQ_MANAGEMENT_URL)",
    )
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
    .option("--moved", "take another vhost or broker than the messages in the database are for so far; for one start")
    .option("--http <host:port>", "health and metrics; off for none; default: 127.0.0.1:9478")
    .option(
      "--number-of-retries <number>",
      "tries before a message goes to the error queue, beside the first; default: 0",
      numberOrText,
    )
    .option(
      "--count-from <start>",
      "when a delay begins: intake, or timestamp, which is the publisher's (AMQP property); default: intake",
    )
    .option("--exit-on-critical", "end with 3 when there are nothing but failures for a while")
    .option("--log-level <level>", "trace, debug, info, warn, error, fatal or silent; default: info")
    .addHelpText(
      "after",
      "\nAll settings also come from the file and from RABBITMQ_DELAY_STORE_NAME, e.g. RABBITMQ_DELAY_STORE_BATCH_SIZE.\n" +
        "RABBITMQ_DELAY_STORE is the database, RABBITMQ_URL the broker, RABBITMQ_MANAGEMENT_URL its management API.",
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
    ...(given.config === undefined ? {} : readConfig(given.config)),
    ...readEnvironment(names, process.env),
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

/** The broker's side, where flags say it. */
function descriptorOf({ descriptor, name, forward, toExchange }: RunOptions): Record<string, unknown> | undefined {
  const isMade = name !== undefined || forward.length + toExchange.length > 0;
  if (descriptor === undefined) {
    return isMade ? { ...(name === undefined ? {} : { name }), forwards: forward, exchanges: toExchange } : undefined;
  }
  if (isMade)
    throw new CommandError(exitCodes.badInput, "--descriptor says all of the broker's side; leave the others out");
  return readDescriptor(descriptor);
}

/** What is no number is refused with the others, by its name. */
function numberOrText(text: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function collect(text: string, all: string[]): string[] {
  return [...all, text];
}

function collectForward(text: string, all: object[]): object[] {
  const [, exchange, delivery, type] = /^([^=]+)=(.+?)(?::(direct|topic|fanout|headers))?$/.exec(text) ?? [];
  if (exchange === undefined) {
    throw new CommandError(
      exitCodes.badInput,
      `--forward: ${JSON.stringify(shownText(text))} is not allowed; write EXCHANGE=DELIVERY or EXCHANGE=DELIVERY:TYPE`,
    );
  }
  return [...all, { exchange, delivery, ...(type === undefined ? {} : { type }) }];
}
