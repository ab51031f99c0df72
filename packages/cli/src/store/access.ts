import { Command } from "commander";
import type { DelayedMessageStore, StoreAnswer, StoreRequest } from "rabbitmq-delay-store";
import { checkEntityName } from "rabbitmq-delay-topology";
import { close } from "../close";
import { connect } from "../connect";
import { CommandError, exitCodes } from "../failure";

/** The options by which a store is named: its database, or the broker of a running one. */
export interface StoreAccessOptions {
  store?: string;
  amqp?: string;
  name: string;
  endpoint?: string;
  schema?: string;
  table?: string;
}

/** Adds the options that name a store. */
export function addStoreAccess(command: Command): Command {
  return addDatabase(command)
    .option("--amqp <url>", "ask the store that runs on this broker instead (environment: RABBITMQ_URL)")
    .option("--name <name>", "the store's name", "delayed");
}

/** Adds the options that name a database. */
export function addDatabase(command: Command): Command {
  return command
    .option(
      "--store <address>",
      "sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE (environment: RABBITMQ_DELAY_STORE)",
    )
    .option(
      "--endpoint <name>",
      "service that the messages are for, part of the table's name; default: the store's name",
    )
    .option("--schema <name>", "schema of PostgreSQL; default: public")
    .option("--table <name>", "table; default: ENDPOINT.delayed");
}

/**
 * Opens a database for some work.
 * @throws CommandError: bad input for what doesn't fit, out of reach for what does not answer
 */
export async function withDatabase<T>(
  options: StoreAccessOptions,
  work: (store: DelayedMessageStore, endpoint: string) => Promise<T>,
): Promise<T> {
  refuseAddresses(options);
  const { store: address, endpoint, name, schema, table } = options;
  const { openStore } = await import("rabbitmq-delay-store");
  return translated("--store", async () => {
    const store = openStore(address as string, { schema, table });
    try {
      return await work(store, endpoint ?? name);
    } finally {
      await store.close();
    }
  });
}

/** An address in the place of a name would be in messages, with its password. @throws CommandError */
function refuseAddresses(options: StoreAccessOptions): void {
  const address = (["name", "endpoint", "schema", "table"] as const).find((key) => /@|:\/\//.test(options[key] ?? ""));
  if (address === undefined) return;
  throw new CommandError(exitCodes.badInput, `--${address}: it holds :// or @, as an address does; give a name`);
}

/** Asks a store, in its database or over its broker. @throws CommandError */
export async function ask<R extends StoreRequest>(options: StoreAccessOptions, request: R): Promise<StoreAnswer<R>> {
  const { amqp, store: address } = placeOf(options);
  if ((address === undefined) === (amqp === undefined)) {
    throw new CommandError(exitCodes.badInput, "give exactly one of --store ADDRESS and --amqp URL");
  }
  refuseAddresses(options);
  const { askStore, defaultLimits, perform } = await import("rabbitmq-delay-store");
  if (amqp === undefined) {
    return withDatabase({ ...options, store: address }, async (store, endpoint) => {
      await store.initialize(endpoint);
      return perform(store, request, defaultLimits.maximumDelayMs);
    });
  }
  const exchange = `${checkEntityName("--name", options.name)}.control`;
  const connection = await connect(amqp);
  connection.on("error", () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on("error", () => undefined);
    return await translated("--amqp", () => askStore(channel, exchange, request));
  } finally {
    await close(connection);
  }
}

/** Flags come before the environment; of that, a running store before its database. */
function placeOf({ amqp, store }: StoreAccessOptions): { amqp?: string; store?: string } {
  if (amqp !== undefined || store !== undefined) return { amqp, store };
  const { RABBITMQ_URL, RABBITMQ_DELAY_STORE } = process.env;
  return RABBITMQ_URL === undefined ? { store: RABBITMQ_DELAY_STORE || undefined } : { amqp: RABBITMQ_URL };
}

const REFUSALS = ["StoreMismatchError", "MessageRefusedError", "StoreRefusedError"];

/** Gives errors their exit codes: what doesn't fit is bad input, all else did not answer. */
export async function translated<T>(option: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { name, message, code } = error as Error & { code?: string };
    if (error instanceof CommandError || name === "DelayTopologyError") throw error;
    if (REFUSALS.includes(name)) throw new CommandError(exitCodes.badInput, message);
    throw new CommandError(exitCodes.outOfReach, `${option}: ${message || code}`);
  }
}
