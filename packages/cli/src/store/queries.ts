import { Command } from "commander";
import type { ErrorQueueCount, ListedJson } from "@rabbitmq-delay/store";
import { addExample, commonOptions, wholeNumber } from "../commonOptions";
import { DelayOptions, addDelayOptions, delayOf } from "../delayOption";
import { exitCodes } from "../failure";
import { printRows } from "../print";
import { StoreAccessOptions, addStoreAccess, ask } from "./access";
import { FilterOptions, addFilter, filterOf, refuseAll } from "./filter";

type QueryOptions = StoreAccessOptions & FilterOptions & { json?: boolean };

/** The most messages that a store lists at once. */
const MOST_LISTED = 1000;

/** `store list`: lists waiting messages, by their next attempt. */
export function addList(store: Command): void {
  const command = store.command("list").description("messages that wait, the next ones first");
  addFilter(addStoreAccess(command))
    .option("--limit <number>", `how many at most, up to ${MOST_LISTED}`, wholeNumber(1, MOST_LISTED), 20)
    .option("--page <page>", "a further page, as the previous list named it")
    .addOption(commonOptions.json())
    .action(async (options: QueryOptions & { limit: number; page?: string }) => {
      const { limit, page: after } = options;
      const page = await ask(options, command, { operation: "list", filter: filterOf(options), limit, after });
      if (options.json) return console.log(JSON.stringify(page, undefined, 2));
      console.log(page.messages.length === 0 ? "no messages" : asTable(page.messages));
      if (page.next !== undefined) console.log(`more: --page ${page.next}`);
      if (options.failed) console.log(`beside them, in the error queue: ${errorsOf(page)}`);
    });
  addExample(command, "rabbitmq-delay store list --store sqlite:delayed.db --routing-key Sales --failed");
}

/** `store cancel`: deletes messages before they are delivered. */
export function addCancel(store: Command): void {
  const command = store
    .command("cancel")
    .description("delete messages that wait; exits with 1 when there are none, or some that may have been sent");
  addFilter(addStoreAccess(command))
    .addOption(commonOptions.json())
    .action(async (options: QueryOptions) => {
      const answer = await ask(options, command, { operation: "cancel", filter: refuseAll(filterOf(options)) });
      report(options, answer, "cancelled");
      tellDoubts(options, answer, "deleted");
    });
  addExample(command, "rabbitmq-delay store cancel --amqp amqp://operator@broker.example.com/shop --message-id 4711");
}

/** `store reschedule`: gives messages another due time. */
export function addReschedule(store: Command): void {
  const command = store
    .command("reschedule")
    .description("give messages another due time; exits with 1 when there are none, or some that may have been sent");
  addDelayOptions(addFilter(addStoreAccess(command)))
    .addOption(commonOptions.json())
    .action(async (options: QueryOptions & DelayOptions) => {
      const { delayMs, at = new Date(Date.now() + (delayMs as number)) } = delayOf(options);
      const filter = refuseAll(filterOf(options));
      const answer = await ask(options, command, { operation: "reschedule", filter, at: at.toISOString() });
      report(options, answer, "rescheduled");
      tellDoubts(options, answer, "rescheduled");
    });
  addExample(command, "rabbitmq-delay store reschedule --store sqlite:delayed.db --header tenant=acme --delay 1h");
}

/** `store stats`: prints how many messages wait. */
export function addStats(store: Command): void {
  const command = store
    .command("stats")
    .description("how many messages wait, are due, have failed, and are in the error queue");
  addStoreAccess(command)
    .addOption(commonOptions.json())
    .action(async (options: QueryOptions) => {
      const stats = await ask(options, command, { operation: "stats" });
      if (options.json) console.log(JSON.stringify(stats));
      else printRows({ ...stats, next: stats.next ?? "none", errorQueue: errorsOf(stats) });
    });
  addExample(command, "rabbitmq-delay store stats --amqp amqp://operator@broker.example.com/shop");
}

/** Messages that could not be delivered or stored are no longer in the store, but in a queue of the broker. */
function errorsOf({ errorQueue }: { errorQueue?: ErrorQueueCount }): string {
  if (errorQueue === undefined) return "not known; a running store counts it (--amqp)";
  return `${errorQueue.messages} in ${errorQueue.name}`;
}

function report({ json }: QueryOptions, answer: { count: number }, done: string): void {
  console.log(json ? JSON.stringify(answer) : `${done} ${answer.count} message${answer.count === 1 ? "" : "s"}`);
  if (answer.count === 0) process.exitCode = exitCodes.finding;
}

/** Warns about messages that the broker may have nevertheless. */
function tellDoubts({ json }: QueryOptions, { inDoubt }: { inDoubt?: number }, done: string): void {
  if (inDoubt === undefined) return;
  if (!json) console.log(`${done} ${inDoubt} more, which may have been sent: the broker did not say`);
  process.exitCode = exitCodes.finding;
}

/** Writes a publisher's text as JSON does, because line breaks and terminal controls in it would make rows of their own. */
function inOneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (sign) => `\\u${(sign.codePointAt(0) as number).toString(16).padStart(4, "0")}`,
  );
}

function asTable(messages: ListedJson[]): string {
  const rows = messages.map(({ attemptAt, messageId, exchange, routingKey, bodyBytes, failureCount }) => [
    attemptAt,
    inOneLine(messageId),
    inOneLine(exchange === "" ? routingKey : `${exchange} ${routingKey}`),
    String(bodyBytes),
    String(failureCount),
  ]);
  const table = [["due", "message id", "destination", "bytes", "failures"], ...rows];
  const widths = (table[0] as string[]).map((_, column) =>
    Math.max(...table.map((row) => (row[column] as string).length)),
  );
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
