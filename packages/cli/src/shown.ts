/** A text of a user's, as a message may show it: an address in the wrong place may hold a password, which may end anywhere. */
export function shownValue(text: string): string {
  return /@|:\/\//.test(text) ? "…" : text;
}

/**
 * What the parser of the command line says of a mistake, without what may be a password: of an option only what stands before
 * its value, and of a value in the wrong place nothing.
 */
export function shownUsage(text: string): string {
  return text
    .replace(
      /(unknown option ')(.*)('(?:\n\(Did you mean [^\n]*)?\s*)$/s,
      (_, before, option: string, after) => `${before}${shownOption(option)}${after}`,
    )
    .replace(
      /(unknown command ')(.*)('(?:\n\(Did you mean [^\n]*)?\s*)$/s,
      (_, before, word: string, after) => `${before}${shownValue(word)}${after}`,
    )
    .replace(
      /(argument ')(.*)(' is invalid\.)/s,
      (_, before, value: string, after) => `${before}${shownArgument(value)}${after}`,
    );
}

/** Short options have their value right behind them, as in `-pPASSWORD`. */
function shownOption(option: string): string {
  const name = option.split("=", 1)[0] as string;
  return shownValue(/^-[^-]/.test(name) && name.length > 2 ? `${name.slice(0, 2)}…` : name);
}

/** A number or a choice that was mistyped is short, or of figures. */
function shownArgument(value: string): string {
  return /^([a-z]{0,8}|[-\d.,]{0,20})$/.test(value) ? value : "…";
}

/** A message about a command line, without the addresses that were given there. */
export function withoutGiven(given: readonly string[], message: string): string {
  const values = given.flatMap((text) => [text, text.slice(text.indexOf("=") + 1)]);
  return values
    .filter((value) => value !== shownValue(value))
    .flatMap((value) => [JSON.stringify(value).slice(1, -1), value])
    .reduce((text, value) => text.replaceAll(value, "…"), message);
}
