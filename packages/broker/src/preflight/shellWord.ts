/** Returns a text as one word of a shell's command, quoted if it has other than plain characters. */
export function shellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
