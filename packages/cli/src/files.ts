import { readFileSync, writeFileSync } from "node:fs";
import { showText } from "./errorText";
import { CommandError, exitCodes } from "./failure";

/** What the system's error codes mean for a file that is read or written. */
const reasons: Record<string, { read: string; write: string }> = {
  ENOENT: { read: "there is no such file", write: "its folder does not exist" },
  ENOTDIR: { read: "a part of its path is no folder", write: "a part of its path is no folder" },
  EISDIR: { read: "it is a folder", write: "it is a folder" },
  EACCES: { read: "you have no right to read it", write: "you have no right to write it" },
  EPERM: { read: "you have no right to read it", write: "you have no right to write it" },
  EROFS: { read: "its file system is read-only", write: "its file system is read-only" },
  ENOSPC: { read: "the disk is full", write: "the disk is full" },
};

/**
 * Reads a file, or standard input for `-`.
 * @param option the option that names the file, for messages; omitted if an argument names it
 * @throws CommandError
 */
export function readBytes(file: string, option?: string): Buffer {
  try {
    return readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    throw refusal("read", file, option, error);
  }
}

/** Like {@link readBytes}, as text: UTF-8, or UTF-16 with its mark, as PowerShell's `>` writes it. */
export function readText(file: string, option?: string): string {
  const bytes = readBytes(file, option);
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return bytes.subarray(2).toString("utf16le");
  if (first === 0xfe && second === 0xff)
    return Buffer.from(bytes.subarray(2, bytes.length & ~1))
      .swap16()
      .toString("utf16le");
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
}

/**
 * Writes a file.
 * @param option the option that names it, for messages
 * @throws CommandError
 */
export function writeText(file: string, text: string, option: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw refusal("write", file, option, error);
  }
}

/** Node's own message repeats the name, which may be an address that was put in the wrong place. */
function refusal(what: "read" | "write", file: string, option: string | undefined, error: unknown): CommandError {
  const { code = "no file" } = error as NodeJS.ErrnoException;
  const where = option === undefined ? "" : `${option}: `;
  const name = file === "-" && what === "read" ? "standard input" : showText(file);
  const done = what === "read" ? "read" : "written";
  return new CommandError(exitCodes.badInput, `${where}${name} can't be ${done}: ${reasons[code]?.[what] ?? code}`);
}
