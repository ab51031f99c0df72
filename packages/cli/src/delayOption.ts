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
    .option("--at <time>", "ISO-8601 time instead of a delay, e.g. 2030-01-31T12:00:00Z; the past is now");
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

/** A time out of an option. @throws CommandError for a text that is none */
export function timeOf(option: string, text: string): Date {
  const time = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?$/.test(text) || Number.isNaN(time.getTime())) {
    throw new CommandError(
      exitCodes.badInput,
      `${option}: ${JSON.stringify(text)} is not allowed; it must be an ISO-8601 time, e.g. 2030-01-31T12:00:00Z`,
    );
  }
  return time;
}
