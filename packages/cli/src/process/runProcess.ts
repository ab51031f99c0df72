import { Command, Option } from "commander";
import type { ServiceOptions } from "@rabbitmq-delay/store/service";
import { commonOptions, wholeNumber } from "../commonOptions";
import { showText } from "../errorText";
import { CommandError, exitCodes } from "../failure";
import { withExitCodes } from "../store/access";
import { readConfig, readEnvironment } from "./config";

/** A process that this command runs until a signal. */
export interface RunnableProcess<Settings> {
  /** The verb, for messages. */
  verb: string;
  /** Start of the names of its variables in the environment. */
  variables: string;
  /** Names of all its settings. */
  settings: string[];
  /** Checks settings. @throws Error naming the setting and what is allowed */
  check: (options: Record<string, unknown>) => Settings;
  run: (settings: Settings, signal: AbortSignal) => Promise<void>;
}

const logLevels: NonNullable<ServiceOptions["logLevel"]>[] = [
  ...(["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const),
];
const starts: NonNullable<ServiceOptions["countFrom"]>[] = ["intake", "timestamp"];
const delayRules: NonNullable<ServiceOptions["delayRules"]>[] = ["strict", "plugin"];

/** Adds the options that a store and a gateway share. */
export function addProcessOptions(command: Command, { http, takes }: { http: string; takes: string }): Command {
  return command
    .option("--http <host:port>", `health and metrics; off for none; default: ${http}`)
    .option(
      "--number-of-retries <number>",
      "tries after the first, before a message goes to the error queue; default: 0",
      wholeNumber(),
    )
    .addOption(
      new Option(
        "--count-from <start>",
        `when a delay begins: when the ${takes} takes the message, or at the publisher's AMQP timestamp; default: intake`,
      ).choices(starts),
    )
    .addOption(
      new Option(
        "--delay-rules <rules>",
        "what x-delay may hold: strict, a number of milliseconds; plugin, what the delayed-message plugin took, by its rules; default: strict",
      ).choices(delayRules),
    )
    .option("--exit-on-critical", "end with 3 when there were only failures for a while")
    .addOption(new Option("--log-level <level>", "default: info").choices(logLevels));
}

/** Adds the options that say where the broker is, and where settings are. */
export function addBrokerOptions(command: Command): Command {
  return command
    .addOption(commonOptions.amqp())
    .addOption(commonOptions.management("the management API, for the part of --declare that AMQP can't do"))
    .addOption(commonOptions.ca())
    .option("--config <file>", "settings as YAML or JSON; flags and environment come before it");
}

/** Gathers exchanges that stand for a delayed exchange each. @throws CommandError */
export function gatherForward(text: string, all: object[] = []): object[] {
  const [, exchange, delivery, type] = /^([^=]+)=(.+?)(?::(direct|topic|fanout|headers))?$/.exec(text) ?? [];
  if (exchange === undefined) {
    throw new CommandError(
      exitCodes.badInput,
      `--forward: ${JSON.stringify(showText(text))} is not allowed; write EXCHANGE=DELIVERY or EXCHANGE=DELIVERY:TYPE`,
    );
  }
  return [...all, { exchange, delivery, ...(type === undefined ? {} : { type }) }];
}

/**
 * Runs a process with the settings of its flags, of the environment and of a file, in this order, until SIGTERM or SIGINT.
 * @param descriptor the broker's side, if flags give it
 * @throws CommandError
 */
export async function runProcess<Settings>(
  { verb, variables, settings: names, check, run }: RunnableProcess<Settings>,
  given: Record<string, unknown>,
  command: Command,
  descriptor: Record<string, unknown> | undefined,
): Promise<void> {
  const from = (source: string): string[] => names.filter((name) => command.getOptionValueSource(name) === source);
  const valuesOf = (chosen: string[]): object => Object.fromEntries(chosen.map((name) => [name, given[name]]));
  const hasOwnVariable = (name: string): boolean =>
    command.options.some((option) => option.attributeName() === name && option.envVar !== undefined);
  const options = {
    ...(given.config === undefined ? {} : readConfig(given.config as string)),
    ...readEnvironment(
      names.filter((name) => !hasOwnVariable(name)),
      process.env,
      variables,
    ),
    ...valuesOf(from("env")),
    ...valuesOf(from("cli")),
    ...(descriptor === undefined ? {} : { descriptor }),
  };
  if ((options as { amqp?: unknown }).amqp === undefined) {
    throw new CommandError(exitCodes.badInput, "--amqp: give it a URL, or set RABBITMQ_URL");
  }
  const settings = await withExitCodes("--config", async () => check(options));
  const ending = new AbortController();
  const end = (): void => {
    // Somebody who asks twice doesn't want to wait.
    if (ending.signal.aborted) process.exit(130);
    ending.abort();
  };
  const signals = ["SIGTERM", "SIGINT"] as const;
  for (const signal of signals) process.on(signal, end);
  try {
    await withExitCodes(verb, () => run(settings, ending.signal));
  } finally {
    for (const signal of signals) process.off(signal, end);
  }
}
