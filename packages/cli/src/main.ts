import { Command, CommanderError } from "commander";
import pc from "picocolors";
import { DelayTopologyError } from "rabbitmq-delay-topology";
import { addCheck } from "./check";
import { addComment } from "./comment";
import { addDecode } from "./decode";
import { addEncode } from "./encode";
import { printError, shownError } from "./errorText";
import { CommandError, exitCodes } from "./failure";
import { addPublish } from "./publish";
import { addRender } from "./render";
import { addReview } from "./review";
import { addStore } from "./store";

/** Runs the command line; sets the process's exit code: 0 done, 1 a finding, 2 bad usage or input, 3 out of reach, 70 its own fault. */
export async function main(argv: string[]): Promise<void> {
  const program = new Command("rabbitmq-delay")
    .description(
      "Delayed messages on plain RabbitMQ: keys, plans, publishing, an external store, and reviews of changes",
    )
    .version((require("../package.json") as { version: string }).version)
    // Verbs made from here on have the same: what Commander refuses, it repeats.
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(shownError(text)) })
    .showSuggestionAfterError();
  for (const add of [addEncode, addDecode, addRender, addPublish, addReview, addComment, addCheck, addStore])
    add(program);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  // Commander has already said what is wrong; asking for help is no mistake.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.badInput;
  const heading = pc.isColorSupported && process.stderr.isTTY ? pc.red("error:") : "error:";
  const { name, message = String(error), stack = message } = (error ?? {}) as Partial<Error>;
  if (error instanceof CommandError || error instanceof DelayTopologyError || name === "MessageRefusedError") {
    printError(`${heading} ${message}`);
    return error instanceof CommandError ? error.exitCode : exitCodes.badInput;
  }
  printError(`${heading} ${message} (a fault of this command's own; with DEBUG=1 it says where)`);
  if (process.env.DEBUG) printError(stack);
  return exitCodes.ownFault;
}
