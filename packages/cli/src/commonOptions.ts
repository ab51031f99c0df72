import { Command, InvalidArgumentError, Option } from "commander";

/** The options that have the same name in every verb. */
export const commonOptions = {
  amqp: (description = "the broker, e.g. amqp://USER:PASSWORD@HOST:5672/VHOST; amqps for TLS"): Option =>
    new Option("--amqp <url>", description).env("RABBITMQ_URL"),
  management: (description: string): Option =>
    new Option("--management <url>", description).env("RABBITMQ_MANAGEMENT_URL"),
  ca: (): Option =>
    new Option("--ca <file>", "certificate authority of a broker with TLS, in PEM").env("RABBITMQ_CACERT"),
  json: (): Option => new Option("--json", "print JSON"),
};

/** Ends a verb's help with examples. */
export function addExample(command: Command, ...lines: string[]): Command {
  return command.addHelpText("after", ["\nExample:", ...lines.map((line) => `  ${line}`)].join("\n"));
}

/** Reads an option's whole number. */
export function wholeNumber(lowest = 0, highest = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = highest === Number.MAX_SAFE_INTEGER ? `from ${lowest}` : `from ${lowest} to ${highest}`;
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= lowest && value <= highest) return value;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

/**
 * Collects the values of an option that is given once for each value. Commander's own lists take everything that follows, including the
 * file argument of a verb that has one.
 */
export function gather(value: string, values: string[] = []): string[] {
  return [...values, value];
}

/** A command and all its verbs. */
export function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}
