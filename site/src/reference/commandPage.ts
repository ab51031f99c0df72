import { createProgram } from "rabbitmq-delay/program";
import { inCell, tableOf } from "./markdown";

type Command = ReturnType<typeof createProgram>;

/** Each verb of the command with its arguments and options, from its own help, as a page. */
export function commandPage(): string {
  return [
    "# Verbs and options",
    "This page is written by `make reference` from what each verb says with `--help`. [The command](../command.md) says what the verbs are for, " +
      "and what the exit codes mean.",
    ...createProgram().commands.flatMap((command) => partsOf(command)),
    "",
  ].join("\n\n");
}

function partsOf(command: Command): string[] {
  const help = command.createHelp();
  const words = fullName(command);
  const verbs = command.commands.map((verb) => [`[\`${verb.name()}\`](#${anchorOf(fullName(verb))})`, sentence(verb)]);
  const values = help
    .visibleArguments(command)
    .map((argument) => [`\`${help.argumentTerm(argument)}\``, inCell(help.argumentDescription(argument))]);
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help")
    .map((option) => [`\`${help.optionTerm(option)}\``, inCell(help.optionDescription(option))]);
  return [
    `${fullName(command).includes(" ") ? "###" : "##"} ${words}`,
    sentence(command),
    ["```sh", help.commandUsage(command), ...examplesOf(command), "```"].join("\n"),
    ...(verbs.length > 0 ? [tableOf(["verb", "does"], verbs)] : []),
    ...(values.length > 0 ? [tableOf(["argument", "is"], values)] : []),
    ...(options.length > 0 ? [tableOf(["option", "is"], options)] : []),
    ...command.commands.flatMap((verb) => partsOf(verb)),
  ];
}

function sentence(command: Command): string {
  return inCell(command.description()).replaceAll("\\|", "|");
}

/** The verb without the command's own name, e.g. `store list`. */
function fullName(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${fullName(parent)} ${command.name()}`;
}

function anchorOf(heading: string): string {
  return heading.replaceAll(" ", "-");
}

/** The lines that a verb's help ends with. */
function examplesOf(command: Command): string[] {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 1000 });
  command.outputHelp();
  const [, lines = ""] = /\nExample:\n([^]*)$/.exec(text) ?? [];
  return lines
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.replace(/^ {2}/, ""));
}
