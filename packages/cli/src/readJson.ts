import { readFileSync } from "node:fs";
import { CommandError, exitCodes } from "./failure";

/**
 * Reads JSON from a file, or from standard input for `-`.
 * @param option the option that names the file, for messages
 * @throws CommandError
 */
export function readJson(option: string, file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new CommandError(exitCodes.badInput, `${option}: ${file} can't be read (${(error as Error).message})`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    // What the parser says may quote the text, and that may be a file with passwords in it.
    const place = /position \d+/.exec((error as Error).message)?.[0];
    throw new CommandError(
      exitCodes.badInput,
      `${option}: ${file} is not JSON${place === undefined ? "" : ` (wrong at ${place})`}`,
    );
  }
}

/** What a text of JSON holds; any other value as it is. */
export function openedJson(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[{[]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
