import { Command } from "commander";
import type { FilterRequest } from "@rabbitmq-delay/store";
import { showText } from "../errorText";
import { CommandError, exitCodes } from "../failure";
import { timeOf } from "../delayOption";

/** The options that select messages. */
export interface FilterOptions {
  messageId?: string;
  header?: Record<string, string | number | boolean>;
  exchange?: string;
  routingKey?: string;
  before?: Date;
  after?: Date;
  failed?: boolean;
}

/** Adds the options that select messages; a message has to match all of them. */
export function addFilter(command: Command): Command {
  return command
    .option("--message-id <id>", "with this message id")
    .option("--header <name=value...>", "with these headers; name:=value for a number or true, false", gatherHeader)
    .option("--exchange <name>", "for this exchange; empty for the default exchange")
    .option("--routing-key <key>", "with this routing key, which is a queue's name at the default exchange")
    .option("--before <time>", "tried next before this time, ISO-8601 with its zone", timeOf("--before"))
    .option("--after <time>", "tried next at this time or later", timeOf("--after"))
    .option("--failed", "whose delivery has failed; those that used up their tries are in the error queue");
}

/** Makes a request's filter from the options. */
export function filterOf(options: FilterOptions): FilterRequest {
  const { messageId, header, exchange, routingKey, before, after, failed } = options;
  return {
    ...(messageId === undefined ? {} : { messageId }),
    ...(header === undefined ? {} : { headers: header }),
    ...(exchange === undefined ? {} : { exchange }),
    ...(routingKey === undefined ? {} : { routingKey }),
    ...(before === undefined ? {} : { before: before.toISOString() }),
    ...(after === undefined ? {} : { after: after.toISOString() }),
    ...(failed ? { minimumFailures: 1 } : {}),
  };
}

/** @throws CommandError for a filter that matches every message */
export function refuseAll(filter: FilterRequest): FilterRequest {
  if (Object.keys(filter).length > 0) return filter;
  throw new CommandError(
    exitCodes.badInput,
    "say which messages: --message-id ID, --header NAME=VALUE or another condition; none would be all of them",
  );
}

type Headers = NonNullable<FilterOptions["header"]>;

function gatherHeader(text: string, headers: Headers = {}): Headers {
  const [, name, colon, value] = /^([^=:][^=]*?)(:?)=(.*)$/s.exec(text) ?? [];
  const parsed = colon === ":" ? scalarOf(value as string) : value;
  if (name === undefined || parsed === undefined) {
    throw new CommandError(
      exitCodes.badInput,
      `--header: ${JSON.stringify(showText(text))} is not allowed; write NAME=TEXT, NAME:=NUMBER, NAME:=true or NAME:=false`,
    );
  }
  return { ...headers, [name]: parsed };
}

function scalarOf(text: string): number | boolean | undefined {
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}
