import { strict as assert } from "node:assert";
import { allCommands } from "../dist/commonOptions";
import { createProgram } from "../dist/program";

/** What `--help` prints of a verb. */
function helpOf(command: ReturnType<typeof createProgram>): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 200 });
  command.outputHelp();
  return text;
}

describe("the help of", () => {
  for (const command of allCommands(createProgram())) {
    const words: string[] = [];
    for (let one: typeof command | null = command; one !== null; one = one.parent) words.unshift(one.name());
    const name = words.join(" ");

    it(`${name} ends with an example of options that there are`, () => {
      const help = helpOf(command);
      const [, example = ""] = /\nExample:\n((?: {2}.*\n)+)$/.exec(help) ?? [];
      assert.ok(example.trim().startsWith(name), help);
      const wanted = command.commands.length > 0 ? command.commands.flatMap(allCommands) : [command];
      const known = new Set(wanted.flatMap(({ options }) => options.map(({ long }) => long)));
      for (const option of example.match(/--[a-z-]+/g) ?? []) assert.ok(known.has(option), `${option} in ${example}`);
      assert.doesNotMatch(help, /default: (\[|\{)/);
    });

    it(`${name} says the same of the same option as any other`, () => {
      const variables: Record<string, string> = { "--amqp": "RABBITMQ_URL", "--ca": "RABBITMQ_CACERT" };
      for (const { long, envVar, flags } of command.options) {
        if (long === "--management") assert.match(flags, /^--management [<[]url[>\]]$/);
        const variable = variables[long as string];
        if (variable !== undefined) assert.equal(envVar, variable, flags);
      }
    });
  }
});
