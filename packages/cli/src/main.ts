import { Command, CommanderError } from "commander";
import pc from "picocolors";
import { addAdopt } from "./adopt";
import { addCheck } from "./check";
import { addComment } from "./comment";
import { addDecode } from "./decode";
import { addEncode } from "./encode";
import { addEnforce } from "./enforce";
import { addGateway } from "./gateway";
import { addExample, allCommands } from "./commonOptions";
import { printError, showError } from "./errorText";
import { CommandError, exitCodes } from "./failure";
import { addPublish } from "./publish";
import { addRender } from "./render";
import { addReview } from "./review";
import { secretsIn, secretsOf, withoutSecrets } from "@rabbitmq-delay/review";
import { addStore } from "./store";
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

/** The command with all its verbs. */
export function createProgram(): Command {
  const program = new Command("rabbitmq-delay")
    .description(
      "Delayed messages on plain RabbitMQ: keys, plans, publishing, an external store, and reviews of changes",
    )
    .version((require("../package.json") as { version: string }).version)
    // Verbs added from here on inherit this.
    .exitOverride()
    .showSuggestionAfterError();
  for (const add of [
    addEncode,
    addDecode,
    addRender,
    addPublish,
    addReview,
    addComment,
    addCheck,
    addEnforce,
    addAdopt,
    addStore,
    addGateway,
  ])
    add(program);
  return addExample(program, "rabbitmq-delay encode --preset nservicebus --delay 10s --destination Sales");
}

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
