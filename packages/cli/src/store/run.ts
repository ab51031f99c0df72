import { Command, Option } from "commander";
import type { ServiceOptions } from "@rabbitmq-delay/store/service";
import { addExample, commonOptions, wholeNumber } from "../commonOptions";
import { showText } from "../errorText";
import { CommandError, exitCodes } from "../failure";
import { StoreAccessOptions, addDatabase, withExitCodes, withDatabase } from "./access";
import { readConfig, readDescriptor, readEnvironment } from "./config";

interface RunOptions {
  config?: string;
  descriptor?: string;
  name?: string;
  forward?: object[];
  toExchange?: string[];
  [setting: string]: unknown;
}

const logLevels: NonNullable<ServiceOptions["logLevel"]>[] = [
  ...(["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const),
];
const starts: NonNullable<ServiceOptions["countFrom"]>[] = ["intake", "timestamp"];

/** `store run`: the service that takes delayed messages in and dispatches them when they are due. */
export function addRun(store: Command): void {
  const command = store
    .command("run")
    .description("take delayed messages in, and deliver them when they are due, until SIGTERM");
  addDatabase(command)
    .addOption(commonOptions.amqp())
    .addOption(commonOptions.management("the management API, for the part of --declare that AMQP can't do"))
    .addOption(commonOptions.ca())
    .option("--config <file>", "settings as YAML or JSON; flags and environment come before it")
    .addOption(
      new Option("--descriptor <file>", "the broker's side: a stack's outputs, or the descriptor in them").conflicts([
        ...["name", "forward", "toExchange"],
      ]),
    )
    .option("--name <name>", "instead of --descriptor: the store's name; default: delayed")
    .option(
      "--forward <exchange=delivery[:type]...>",
      "instead of --descriptor: exchanges that take delayed messages, each with the exchange to which they go when due",
      gatherForward,
    )
    .option("--to-exchange <names...>", "instead of --descriptor: exchanges that messages may name in a header")
    .option("--declare", "declare the broker's side, too")
    .option("--no-set-up", "don't create or migrate tables")
    .option("--moved", "accept another vhost or broker than the one that the stored messages are for; for one start")
    .option("--http <host:port>", "health and metrics; off for none; default: 127.0.0.1:9478")
    .option(
      "--number-of-retries <number>",
      "tries after the first, before a message goes to the error queue; default: 0",
      wholeNumber(),
    )
    .addOption(
      new Option(
        "--count-from <start>",
        "when a delay begins: when the store takes the message, or at the publisher's AMQP timestamp; default: intake",
      ).choices(starts),
    )
    .option("--exit-on-critical", "end with 3 when there were only failures for a while")
    .addOption(new Option("--log-level <level>", "default: info").choices(logLevels))
    .addHelpText(
      "after",
      "\nAll settings also come from the file, and from RABBITMQ_DELAY_STORE_NAME, e.g. RABBITMQ_DELAY_STORE_BATCH_SIZE.",
    )
    .action(run);
  addExample(
    command,
    "rabbitmq-delay store run --store sqlite:delayed.db --amqp amqp://delayed-store@broker.example.com/shop --declare",
  );
}

/** `store set-up`: only creates tables, for a role that may create them. */
export function addSetUp(store: Command): void {
  const command = store.command("set-up").description("create or migrate tables");
  addDatabase(command)
    .option("--name <name>", "the store's name", "delayed")
    .action(async (options: StoreAccessOptions) => {
      if (options.store === undefined) {
        throw new CommandError(exitCodes.badInput, "give --store ADDRESS, or set RABBITMQ_DELAY_STORE");
      }
      await withDatabase(options, (opened, tablePrefix) => opened.setUpInfrastructure(tablePrefix));
      console.log("the tables are ready");
    });
  addExample(command, "rabbitmq-delay store set-up --store postgres://owner@db.example.com/orders");
}

async function run(given: RunOptions, command: Command): Promise<void> {
  const { runStoreService, serviceSchema, serviceSettings } = await import("@rabbitmq-delay/store/service");
  const names = Object.keys(serviceSchema.shape);
  const from = (source: string): string[] => names.filter((name) => command.getOptionValueSource(name) === source);
  const valuesOf = (chosen: string[]): object => Object.fromEntries(chosen.map((name) => [name, given[name]]));
  const hasOwnVariable = (name: string): boolean =>
    command.options.some((option) => option.attributeName() === name && option.envVar !== undefined);
  const descriptor = descriptorOf(given);
  const options = {
    ...(given.config === undefined ? {} : readConfig(given.config)),
    ...readEnvironment(
      names.filter((name) => !hasOwnVariable(name)),
      process.env,
    ),
    ...valuesOf(from("env")),
    ...valuesOf(from("cli")),
    ...(descriptor === undefined ? {} : { descriptor }),
  };
  const settings = await withExitCodes("--config", async () => serviceSettings(options));
  const ending = new AbortController();
  const end = (): void => {
    // Somebody who asks twice doesn't want to wait.
    if (ending.signal.aborted) process.exit(130);
    ending.abort();
  };
  const signals = ["SIGTERM", "SIGINT"] as const;
  for (const signal of signals) process.on(signal, end);
  try {
    await withExitCodes("store run", () => runStoreService(settings, ending.signal));
  } finally {
    for (const signal of signals) process.off(signal, end);
  }
}

/** The broker's side, if flags give it. */
function descriptorOf({ descriptor, name, forward, toExchange }: RunOptions): Record<string, unknown> | undefined {
  if (descriptor !== undefined) return readDescriptor(descriptor);
  if (name === undefined && forward === undefined && toExchange === undefined) return undefined;
  return { ...(name === undefined ? {} : { name }), forwards: forward ?? [], exchanges: toExchange ?? [] };
}

function gatherForward(text: string, all: object[] = []): object[] {
  const [, exchange, delivery, type] = /^([^=]+)=(.+?)(?::(direct|topic|fanout|headers))?$/.exec(text) ?? [];
  if (exchange === undefined) {
    throw new CommandError(
      exitCodes.badInput,
      `--forward: ${JSON.stringify(showText(text))} is not allowed; write EXCHANGE=DELIVERY or EXCHANGE=DELIVERY:TYPE`,
    );
  }
  return [...all, { exchange, delivery, ...(type === undefined ? {} : { type }) }];
}
