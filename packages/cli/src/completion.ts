import { Argument, Command, Option } from "commander";
import { addExample } from "./commonOptions";
import { Completion, completionsOf, scripts } from "./completionScripts";

/** `completion`: prints a script by which a shell completes verbs, options and their values. */
export function addCompletion(program: Command): void {
  const command = program
    .command("completion")
    .description("a script by which your shell completes this command")
    .addArgument(new Argument("<shell>", "the shell that reads the script").choices(Object.keys(scripts)))
    .action((shell: keyof typeof scripts) => console.log(scripts[shell](completionsOf(describe(program)))));
  addExample(command, "rabbitmq-delay completion bash >> ~/.bashrc");
}

/** A command as completions need it. */
function describe(command: Command): Completion {
  const visible = command.createHelp();
  return {
    name: command.name(),
    summary: command.description(),
    options: visible.visibleOptions(command).map(describeOption),
    values: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    takesFile: command.registeredArguments.some((argument) => argument.name() === "file"),
    // Its own help has no options to complete.
    verbs: command.commands.map(describe),
  };
}

function describeOption({
  long,
  short,
  description,
  flags,
  argChoices,
  required,
  optional,
}: Option): Completion["options"][number] {
  return {
    flag: long ?? short ?? "",
    summary: description,
    takes: !required && !optional ? "nothing" : /<file>/.test(flags) ? "file" : "value",
    values: argChoices ?? [],
  };
}
