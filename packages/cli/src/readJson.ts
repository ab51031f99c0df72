import { showText } from "./errorText";
import { CommandError, exitCodes } from "./failure";
import { readText } from "./files";

/**
 * Reads JSON from a file, or from standard input for `-`.
 * @param option the option that names the file, for messages
 * @throws CommandError
 */
export function readJson(option: string, file: string): unknown {
  const text = readText(file, option);
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's message may quote the text, which may be a file with passwords in it.
    const place = /position \d+/.exec((error as Error).message)?.[0];
    throw new CommandError(
      exitCodes.badInput,
      `${option}: ${showText(file)} is not JSON${place === undefined ? "" : ` (wrong at ${place})`}`,
    );
  }
}
