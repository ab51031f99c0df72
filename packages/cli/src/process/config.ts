import { parseDocument } from "yaml";
import { showText } from "../errorText";
import { CommandError, exitCodes } from "../failure";
import { readText } from "../files";

type Settings = Record<string, unknown>;

/**
 * Reads settings from a file of YAML or JSON. Errors only give the place of a mistake, because the file contains passwords.
 * @throws CommandError
 */
export function readConfig(file: string): Settings {
  const value = parseSettings("--config", file, readText(file, "--config"));
  if (isObject(value)) return value;
  throw new CommandError(exitCodes.badInput, `--config: ${showText(file)} must hold settings by their names`);
}

/**
 * Reads the broker's side from a file: a stack's outputs, which may hold secrets, or the descriptor in them.
 * @param file its name; `-` is standard input
 * @param output name of the output that holds the descriptor
 * @throws CommandError
 */
export function readDescriptor(file: string, output: string): Settings {
  const text = readText(file, "--descriptor");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CommandError(exitCodes.badInput, `--descriptor: ${showText(file)} is not JSON`);
  }
  if (isObject(value) && "delayNetwork" in value && !(output in value)) {
    throw new CommandError(
      exitCodes.badInput,
      `--descriptor: the outputs in ${showText(file)} have no ${output}: its stack declares none, also where its config gives an empty one`,
    );
  }
  const descriptor = isObject(value) && value.kind === undefined ? (value[output] ?? value) : value;
  if (isObject(descriptor)) return descriptor;
  throw new CommandError(
    exitCodes.badInput,
    `--descriptor: ${showText(file)} holds no descriptor; give a stack's outputs (pulumi stack output --json), or ${output} of them`,
  );
}

/**
 * Reads settings from the environment; numbers, truth values and objects are written as in JSON, everything else is text.
 * @param names of the settings, without those that have an option with a variable of its own
 * @param start of the variables' names
 * @throws CommandError
 */
export function readEnvironment(
  names: string[],
  environment: NodeJS.ProcessEnv,
  start = "RABBITMQ_DELAY_STORE",
): Settings {
  const given = names
    .map((name) => [name, variableOf(name, start)] as const)
    .filter(([, variable]) => (environment[variable] ?? "") !== "");
  return Object.fromEntries(
    given.map(([name, variable]) => [name, valueOf(variable, environment[variable] as string)]),
  );
}

function variableOf(name: string, start: string): string {
  return `${start}_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

function valueOf(variable: string, text: string): unknown {
  if (/^(true|false|-?\d+(\.\d+)?)$/.test(text)) return JSON.parse(text) as unknown;
  if (!/^\{.*\}$/s.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new CommandError(exitCodes.badInput, `${variable}: it begins and ends as JSON, and is none`);
  }
}

/** Parses a text; the parser's own messages would quote it. */
function parseSettings(option: string, file: string, text: string): unknown {
  const document = parseDocument(text, { logLevel: "silent", prettyErrors: true });
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    const [place] = fault.linePos ?? [];
    const where = place === undefined ? "" : ` at line ${place.line}, column ${place.col}`;
    throw new CommandError(
      exitCodes.badInput,
      `${option}: ${showText(file)} is not YAML or JSON${where} (${fault.code})`,
    );
  }
  try {
    return document.toJS();
  } catch {
    throw new CommandError(
      exitCodes.badInput,
      `${option}: ${showText(file)} is not YAML or JSON (an alias without its anchor)`,
    );
  }
}

function isObject(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
