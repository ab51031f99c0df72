import { Command } from "commander";

/** The former names of options, and their present ones. */
const names: Record<string, string> = {
  "--broker": "--management",
  "--config": "--stack-config",
  "--config-file": "--stack-config",
  "--endpoint": "--table-prefix",
};

/** Commander suggests names that are spelt alike; this also leads from a former name to its present one. */
export function suggestFormerName(text: string, command: Command): string {
  const [, former = ""] = /^error: unknown option '(--[\w-]+)/.exec(text) ?? [];
  const name = names[former];
  if (name === undefined || !command.options.some(({ long }) => long === name)) return text;
  return `${text.replace(/\n\(Did you mean [^\n]*/, "").trimEnd()}\n(Did you mean ${name}?)\n`;
}
