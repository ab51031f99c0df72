/** The longest path that is shown; a key without its first and last line is longer. */
const LONGEST_SHOWN = 200;

/** What is allowed where a file is named. */
export const PATH_RULE = "it must be the path of a file, not what is in it";

/** Whether a text may be the path of a file, and not a certificate or a key in PEM. */
export function isPath(text: string): boolean {
  return !/[\r\n]|-----/.test(text);
}

/** A file's path, in a form that a message may show: an address with a password, or a key, may stand in its place. */
export function showPath(path: string): string {
  return isPath(path) && !path.includes("@") && path.length <= LONGEST_SHOWN ? path : "…";
}
