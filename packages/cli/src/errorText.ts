/** What stands for a text that nobody shall read. */
const HIDDEN = "…";

/** Users and passwords of this command's own examples, in its help and its errors. */
const EXAMPLES = "user:password@|USER:PASSWORD@|guest:guest@";

/** An address that has nothing in it but where something is; what stands behind the host may be a token. */
const PLACE = /^([a-z][a-z0-9+.-]*:\/\/(?:[\w-]+(?:\.[\w-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?)(?:\/.*)?$/is;

/**
 * An error as it may be printed. An address in the wrong place, or behind a mistyped option, may hold a password, and whoever refuses
 * a value repeats it: so no argument that looks like an address stands in an error as it was given, nor does an address that a file
 * had in it.
 * @param args of the command line
 */
export function shownError(text: string, args: string[] = process.argv.slice(2)): string {
  let shown = text.replace(/(unknown option '--[^'=]*)=.*'/gs, `$1=${HIDDEN}'`);
  shown = shown.replace(/(unknown option '-[^-'])[^']+'/g, `$1${HIDDEN}'`);
  // A number or a choice that was mistyped is short, or of figures; what is longer may be a password without an address.
  shown = shown.replace(
    /((?:argument|value) ')(.*)(' (?:from env '\w+' )?is invalid\.)/gs,
    (_, before: string, value: string, after: string) =>
      [before, /^([a-z]{0,8}|[-\d.,]{0,20})$/.test(value) ? value : HIDDEN, after].join(""),
  );
  // A part of one argument may be another one.
  const given = [...new Set(args.flatMap(partsOf))].sort((a, b) => b.length - a.length);
  for (const value of given) {
    for (const form of [value, JSON.stringify(value).slice(1, -1)]) shown = shown.replaceAll(form, shownValue(value));
  }
  // Errors quote values as JSON does; in the quotes, a password may have any character.
  shown = shown.replace(/"(?:[^"\\]|\\.)*"/g, (quoted) =>
    looksLikeAddress(quoted) && !isExample(quoted) ? JSON.stringify(shownValue(quoted.slice(1, -1))) : quoted,
  );
  return shown.replace(new RegExp(`([a-z][a-z0-9+.-]*://)(?!${EXAMPLES})[^\\s"<>\`]*@`, "gi"), `$1${HIDDEN}@`);
}

/** A text of a user's, as a message may show it. */
export function shownText(text: string): string {
  return looksLikeAddress(text) ? shownValue(text) : text;
}

/** Prints an error, or a note. */
export function printError(text: string): void {
  console.error(shownError(text));
}

/** Whether a text may be an address, with a user and a password in it or without. */
export function looksLikeAddress(text: string): boolean {
  return /@|:\/\//.test(text);
}

function isExample(text: string): boolean {
  return new RegExp(`//(?:${EXAMPLES})`).test(text);
}

/** An argument, and what stands behind its `=`, as far as they look like an address: with the option's name, it may be anywhere. */
function partsOf(argument: string): string[] {
  const parts = [argument];
  for (let at = argument.indexOf("="); at >= 0; at = argument.indexOf("=", at + 1)) parts.push(argument.slice(at + 1));
  return parts.filter(looksLikeAddress);
}

function shownValue(value: string): string {
  const place = value.includes("@") ? undefined : PLACE.exec(value)?.[1];
  const isWhole = place !== undefined && value.slice(place.length).replace("/", "") === "";
  return place === undefined ? HIDDEN : isWhole ? value : `${place}/${HIDDEN}`;
}
