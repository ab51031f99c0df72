import { Command } from "commander";
import { parseDelay } from "rabbitmq-delay-topology";
import { CommandError, exitCodes } from "./failure";

/** The options by which a delay is named. */
export interface DelayOptions {
  delay?: string;
  at?: string;
}

/** Adds the options that name a delay: how long, or until when. */
export function addDelayOptions(command: Command): Command {
  return command
    .option("--delay <delay>", "1500ms, 10s, 5m, 2h, 3d, or an ISO-8601 duration such as PT1M30S")
    .option(
      "--at <time>",
      "ISO-8601 time with its zone instead of a delay, e.g. 2030-01-31T12:00:00Z; the past is now",
    );
}

/** Milliseconds from now, or the time; @throws CommandError */
export function delayOf(
  options: DelayOptions,
): { delayMs: number; at?: undefined } | { delayMs?: undefined; at: Date } {
  const { delay, at } = options;
  if ((delay === undefined) === (at === undefined)) {
    throw new CommandError(exitCodes.badInput, "give exactly one of --delay DELAY and --at TIME");
  }
  if (delay !== undefined) return { delayMs: parseDelay(delay, "--delay") };
  return { at: timeOf("--at", at as string) };
}

const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})$/;

/**
 * A time out of an option; it says its zone, because without one it would mean another moment on another machine.
 * @throws CommandError for a text that is none
 */
export function timeOf(option: string, text: string): Date {
  const [, date, clock, zone] = TIME.exec(text) ?? [];
  const time = new Date(`${date}T${clock}${zone?.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2")}`);
  // A day that the month doesn't have would become one of the next month.
  const isDay = new Date(`${date}T00:00:00Z`).toJSON()?.slice(0, 10) === date;
  if (date === undefined || !isDay || Number.isNaN(time.getTime())) {
    throw new CommandError(
      exitCodes.badInput,
      `${option}: ${JSON.stringify(text)} is not allowed; it must be an ISO-8601 time with its zone, e.g. 2030-01-31T12:00:00Z ` +
        `or 2030-01-31T12:00:00+01:00`,
    );
  }
  return time;
}
