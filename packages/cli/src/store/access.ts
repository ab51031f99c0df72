import { Command, Option } from "commander";
import type { DelayedMessageStore, StoreAnswer, StoreRequest } from "@rabbitmq-delay/store";
import { checkEntityName } from "@rabbitmq-delay/topology/stack";
import { close } from "../close";
import { commonOptions } from "../commonOptions";
import { connect } from "../connect";
import { looksLikeAddress } from "../errorText";
import { CommandError, exitCodes, isOwnFault } from "../failure";

/** The options that select a store: its database, or the broker of a running one. */
export interface StoreAccessOptions {
  store?: string;
  amqp?: string;
  ca?: string;
  name: string;
  tablePrefix?: string;
  schema?: string;
  table?: string;
}

/** Adds the options that select a store. */
export function addStoreAccess(command: Command): Command {
  return addDatabase(command)
    .addOption(commonOptions.amqp("ask the store that runs on this broker instead"))
    .addOption(commonOptions.ca())
    .option("--name <name>", "the store's name", "delayed");
}

/** Adds the options that select a database. */
export function addDatabase(command: Command): Command {
  return command
    .addOption(
      new Option("--store <address>", "sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE").env(
        "RABBITMQ_DELAY_STORE",
      ),
    )
    .option("--table-prefix <prefix>", "start of the tables' names; default: the store's name")
    .option("--schema <name>", "schema of PostgreSQL; default: public")
    .option("--table <name>", "table; default: PREFIX.delayed");
}

/**
 * Opens a database for some work.
 * @throws CommandError: bad input if something doesn't fit, out of reach if something does not answer
 */
export async function withDatabase<T>(
  options: StoreAccessOptions,
  work: (store: DelayedMessageStore, tablePrefix: string) => Promise<T>,
): Promise<T> {
  refuseAddresses(options);
  const { store: address, tablePrefix, name, schema, table } = options;
  const { openStore } = await import("@rabbitmq-delay/store");
  return withExitCodes("--store", async () => {
    const store = openStore(address as string, { schema, table });
    try {
      return await work(store, tablePrefix ?? name);
    } finally {
      await store.close();
    }
  });
}

/** Refuses an address in the place of a name, because messages would show it with its password. @throws CommandError */
function refuseAddresses(options: StoreAccessOptions): void {
  const names = { name: "--name", tablePrefix: "--table-prefix", schema: "--schema", table: "--table" } as const;
  for (const [key, option] of Object.entries(names)) {
    if (!looksLikeAddress(options[key as keyof typeof names] ?? "")) continue;
    throw new CommandError(exitCodes.badInput, `${option}: it holds :// or @, as an address does; give a name`);
  }
}

/** Asks a store, in its database or over its broker, as the options say. @throws CommandError */
export async function ask<R extends StoreRequest>(
  options: StoreAccessOptions,
  command: Command,
  request: R,
): Promise<StoreAnswer<R>> {
  const { amqp, store: address } = placeOf(options, command);
  if ((address === undefined) === (amqp === undefined)) {
    throw new CommandError(exitCodes.badInput, "give exactly one of --store ADDRESS and --amqp URL");
  }
  refuseAddresses(options);
  const { askStore, defaultLimits, perform } = await import("@rabbitmq-delay/store");
  if (amqp === undefined) {
    return withDatabase({ ...options, store: address }, async (store, tablePrefix) => {
      await store.initialize(tablePrefix);
      return perform(store, request, defaultLimits.maximumDelayMs);
    });
  }
  const exchange = `${checkEntityName("--name", options.name)}.control`;
  const connection = await connect(amqp, options.ca);
  connection.on("error", () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on("error", () => undefined);
    return await withExitCodes("--amqp", () => askStore(channel, exchange, request));
  } finally {
    await close(connection);
  }
}

/** Flags take precedence over the environment. The environment may name both; then a running store comes before its database. */
function placeOf({ amqp, store }: StoreAccessOptions, command: Command): { amqp?: string; store?: string } {
  const isGiven = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  if (isGiven("amqp") || isGiven("store")) {
    return { amqp: isGiven("amqp") ? amqp : undefined, store: isGiven("store") ? store : undefined };
  }
  return amqp === undefined ? { store } : { amqp };
}

const REFUSALS = ["StoreMismatchError", "MessageRefusedError", "StoreRefusedError"];

/**
 * Gives errors their exit codes. Something that doesn't fit is bad input; everything else did not answer, except faults of the command's
 * own.
 */
export async function withExitCodes<T>(option: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { name, message, code, property } = error as Error & { code?: string; property?: string };
    if (error instanceof CommandError || name === "DelayTopologyError" || isOwnFault(error)) throw error;
    if (name === "BrokerRefusedError") throw new CommandError(exitCodes.outOfReach, `--${message}`);
    if (REFUSALS.includes(name))
      throw new CommandError(exitCodes.badInput, property === "amqp" ? `--${message}` : message);
    throw new CommandError(exitCodes.outOfReach, `${option}: ${message || code}`);
  }
}
