import { Command, CommanderError } from "commander";
import pc from "picocolors";
import { DelayTopologyError } from "rabbitmq-delay-topology";
import { addCheck } from "./check";
import { addComment } from "./comment";
import { addDecode } from "./decode";
import { addEncode } from "./encode";
import { CommandError, exitCodes } from "./failure";
import { addPublish } from "./publish";
import { addRender } from "./render";
import { addReview } from "./review";
import { shownUsage, withoutGiven } from "./shown";
import { addStore } from "./store";

/** Runs the command line; sets the process's exit code: 0 done, 1 a finding, 2 bad usage or input, 3 out of reach. */
export async function main(argv: string[]): Promise<void> {
  const program = new Command("rabbitmq-delay")
    .description(
      "Delayed messages on plain RabbitMQ: keys, plans, publishing, an external store, and reviews of changes",
    )
    .version((require("../package.json") as { version: string }).version)
    .exitOverride()
    // All commands take it over.
    .configureOutput({ outputError: (text, write) => write(shownUsage(text)) })
    .showSuggestionAfterError();
  for (const add of [addEncode, addDecode, addRender, addPublish, addReview, addComment, addCheck, addStore])
    add(program);
  program.commands.forEach((command) => command.exitOverride());
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error, argv);
  }
}

function report(error: unknown, argv: string[]): number {
  // Commander has already said what is wrong; asking for help is no mistake.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.badInput;
  const known =
    error instanceof CommandError ||
    error instanceof DelayTopologyError ||
    (error as Error).name === "MessageRefusedError";
  console.error(
    `${pc.isColorSupported && process.stderr.isTTY ? pc.red("error:") : "error:"} ${withoutGiven(argv, (error as Error).message)}`,
  );
  if (!known && process.env.DEBUG) console.error(error);
  return error instanceof CommandError ? error.exitCode : exitCodes.badInput;
}
