import { CommanderError } from "commander";
import pc from "picocolors";
import { allCommands } from "./commonOptions";
import { printError, showError } from "./errorText";
import { CommandError, exitCodes } from "./failure";
import { createProgram } from "./program";
import { secretsIn, secretsOf, withoutSecrets } from "@rabbitmq-delay/review";
import { suggestFormerName } from "./suggestFormerName";

/**
 * Runs the command line and sets the process's exit code: 0 done, 1 a finding, 2 bad usage or input, 3 out of reach, 70 a fault of its own.
 */
export async function main(argv: string[]): Promise<void> {
  const program = createProgram();
  for (const command of allCommands(program)) {
    // Commander repeats the value that it refuses.
    const outputError = (text: string, write: (text: string) => void): void =>
      write(showError(suggestFormerName(text, command)));
    command.configureOutput({ outputError });
    for (const { envVar } of command.options) {
      // Compose files and pipelines set a variable to an empty text if nobody gave it.
      if (envVar !== undefined && process.env[envVar] === "") delete process.env[envVar];
    }
  }
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

/**
 * Errors in which the packages explain what is wrong with an argument. They are known by name, so that only a verb that needs a package
 * loads it.
 */
const REFUSALS = ["DelayTopologyError", "MessageRefusedError", "PreviewError"];

/**
 * Prints what went wrong on standard error.
 * @returns the exit code for it
 */
export function report(error: unknown): number {
  // Commander has already printed what is wrong; asking for help is not a mistake.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.badInput;
  const heading = pc.isColorSupported && process.stderr.isTTY ? pc.red("error:") : "error:";
  const { name, message = String(error), stack = "" } = (error ?? {}) as Partial<Error>;
  if (error instanceof CommandError || REFUSALS.includes(name ?? "")) {
    printError(`${heading} ${message}`);
    return error instanceof CommandError ? error.exitCode : exitCodes.badInput;
  }
  const place = stack.split("\n").filter((line) => /^ {4}at /.test(line));
  const known = [...secretsOf(), ...secretsIn(process.argv.flatMap((argument) => [argument, ...argument.split("=")]))];
  const text = [`${heading} ${message} (a fault of this command's own)`, ...place].join("\n");
  printError(withoutSecrets(text, known));
  return exitCodes.ownFault;
}
