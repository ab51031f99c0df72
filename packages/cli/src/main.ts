import { Command, CommanderError } from "commander";
import pc from "picocolors";
import { addCheck } from "./check";
import { addComment } from "./comment";
import { addDecode } from "./decode";
import { addEncode } from "./encode";
import { addExample, allCommands } from "./commonOptions";
import { printError, shownError } from "./errorText";
import { CommandError, exitCodes } from "./failure";
import { addPublish } from "./publish";
import { addRender } from "./render";
import { addReview } from "./review";
import { secretsIn, secretsOf, withoutSecrets } from "@rabbitmq-delay/review";
import { addStore } from "./store";
import { suggestFormerName } from "./suggestFormerName";

/** Runs the command line; sets the process's exit code: 0 done, 1 a finding, 2 bad usage or input, 3 out of reach, 70 its own fault. */
export async function main(argv: string[]): Promise<void> {
  const program = createProgram();
  for (const command of allCommands(program)) {
    // What Commander refuses, it repeats.
    const outputError = (text: string, write: (text: string) => void): void =>
      write(shownError(suggestFormerName(text, command)));
    command.configureOutput({ outputError });
    for (const { envVar } of command.options) {
      // As Compose and pipelines write a variable that nobody set.
      if (envVar !== undefined && process.env[envVar] === "") delete process.env[envVar];
    }
  }
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** Errors of the packages that say what is wrong with what was given, known by name so that only a verb that needs a package loads it. */
const REFUSALS = ["DelayTopologyError", "MessageRefusedError", "PreviewError"];

/** The command with all its verbs. */
export function createProgram(): Command {
  const program = new Command("rabbitmq-delay")
    .description(
      "Delayed messages on plain RabbitMQ: keys, plans, publishing, an external store, and reviews of changes",
    )
    .version((require("../package.json") as { version: string }).version)
    // Verbs made from here on have the same.
    .exitOverride()
    .showSuggestionAfterError();
  for (const add of [addEncode, addDecode, addRender, addPublish, addReview, addComment, addCheck, addStore])
    add(program);
  return addExample(program, "rabbitmq-delay encode --preset nservicebus --delay 10s --destination Sales");
}

/** Says on standard error what went wrong; @returns the exit code for it */
export function report(error: unknown): number {
  // Commander has already said what is wrong; asking for help is no mistake.
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
