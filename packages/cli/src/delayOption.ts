import { Command, Option } from "commander";
import { parseDelay } from "@rabbitmq-delay/topology";
import { CommandError, exitCodes } from "./failure";

/** The options that give a delay. */
export interface DelayOptions {
  /** In milliseconds. */
  delay?: number;
  at?: Date;
}

/** Adds the options that give a delay: how long, or until when. */
export function addDelayOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--delay <delay>", "1500ms, 10s, 5m, 2h, 3d, or an ISO-8601 duration such as PT1M30S")
        .argParser((text) => parseDelay(text, "--delay"))
        .conflicts("at"),
    )
    .option(
      "--at <time>",
      "ISO-8601 time with its zone instead of a delay, e.g. 2030-01-31T12:00:00Z; a past time means now",
      timeOf("--at"),
    );
}

/** Milliseconds from now, or the time. @throws CommandError */
export function delayOf({
  delay,
  at,
}: DelayOptions): { delayMs: number; at?: undefined } | { delayMs?: undefined; at: Date } {
  if (delay !== undefined) return { delayMs: delay };
  if (at !== undefined) return { at };
  throw new CommandError(exitCodes.badInput, "give exactly one of --delay DELAY and --at TIME");
}

const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})$/;

/**
 * Reads an option's time. It must include its zone, because without one it would mean another moment on another machine.
 * @returns a parser that throws a CommandError for a text that is not a time
 */
export function timeOf(option: string): (text: string) => Date {
  return (text) => {
    const [, date, clock, zone] = TIME.exec(text) ?? [];
    const time = new Date(`${date}T${clock}${zone?.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2")}`);
    // JavaScript would turn a day that the month doesn't have into one of the next month.
    const isDay = new Date(`${date}T00:00:00Z`).toJSON()?.slice(0, 10) === date;
    if (date !== undefined && isDay && !Number.isNaN(time.getTime())) return time;
    throw new CommandError(
      exitCodes.badInput,
      `${option}: ${JSON.stringify(text)} is not allowed; it must be an ISO-8601 time with its zone, e.g. 2030-01-31T12:00:00Z ` +
        `or 2030-01-31T12:00:00+01:00`,
    );
  };
}
