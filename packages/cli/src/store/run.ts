import { Command, Option } from "commander";
import { addExample } from "../commonOptions";
import { CommandError, exitCodes } from "../failure";
import { readDescriptor } from "../process/config";
import { addBrokerOptions, addProcessOptions, gatherForward, runProcess } from "../process/runProcess";
import { StoreAccessOptions, addDatabase, withDatabase } from "./access";

interface RunOptions {
  descriptor?: string;
  name?: string;
  forward?: object[];
  toExchange?: string[];
  [setting: string]: unknown;
}

/** `store run`: the service that takes delayed messages in and dispatches them when they are due. */
export function addRun(store: Command): void {
  const command = store
    .command("run")
    .description("take delayed messages in, and deliver them when they are due, until SIGTERM");
  addBrokerOptions(addDatabase(command))
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
    .option("--moved", "accept another vhost or broker than the one that the stored messages are for; for one start");
  addProcessOptions(command, { http: "127.0.0.1:9478", takes: "store" })
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
  const store = {
    verb: "store run",
    variables: "RABBITMQ_DELAY_STORE",
    settings: Object.keys(serviceSchema.shape),
    check: serviceSettings,
    run: runStoreService,
  };
  await runProcess(store, given, command, descriptorOf(given));
}

/** The broker's side, if flags give it. */
function descriptorOf({ descriptor, name, forward, toExchange }: RunOptions): Record<string, unknown> | undefined {
  if (descriptor !== undefined) return readDescriptor(descriptor, "delayedStore");
  if (name === undefined && forward === undefined && toExchange === undefined) return undefined;
  return { ...(name === undefined ? {} : { name }), forwards: forward ?? [], exchanges: toExchange ?? [] };
}
