/** Replaces a text that must not be shown. */
const HIDDEN = "…";

/** Users and passwords of this command's own examples, in its help and its errors. */
const EXAMPLES = "user:password@|USER:PASSWORD@|guest:guest@";

/** An address that only names a place; anything after the host may be a token. */
const PLACE = /^([a-z][a-z0-9+.-]*:\/\/(?:[\w-]+(?:\.[\w-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?)(?:\/.*)?$/is;

/**
 * Makes an error printable. An address in the wrong place, or after a mistyped option, may hold a password, and the code that refuses a
 * value repeats it. So an error never repeats an argument that looks like an address as it was given, nor an address that was read from a
 * file.
 * @param args of the command line
 */
export function showError(text: string, args: string[] = process.argv.slice(2)): string {
  let shown = text.replace(/(unknown option '--[^'=]*)=.*'/gs, `$1=${HIDDEN}'`);
  shown = shown.replace(/(unknown option '-[^-'])[^']+'/g, `$1${HIDDEN}'`);
  // A mistyped number or choice is short, or made of digits; anything longer may be a password without an address.
  shown = shown.replace(
    /((?:argument|value) ')(.*)(' (?:from env '\w+' )?is invalid\.)/gs,
    (_, before: string, value: string, after: string) =>
      [before, /^([a-z]{0,8}|[-\d.,]{0,20})$/.test(value) ? value : HIDDEN, after].join(""),
  );
  // A part of one argument may be another argument.
  const given = [...new Set(args.flatMap(partsOf))].sort((a, b) => b.length - a.length);
  for (const value of given) {
    for (const form of [value, JSON.stringify(value).slice(1, -1)]) shown = shown.replaceAll(form, showValue(value));
  }
  // Errors quote values as JSON does; inside the quotes, a password may have any character.
  shown = shown.replace(/"(?:[^"\\]|\\.)*"/g, (quoted) =>
    looksLikeAddress(quoted) && !isExample(quoted) ? JSON.stringify(showValue(quoted.slice(1, -1))) : quoted,
  );
  return shown.replace(new RegExp(`([a-z][a-z0-9+.-]*://)(?!${EXAMPLES})[^\\s"<>\`]*@`, "gi"), `$1${HIDDEN}@`);
}

/** A user's text, in a form that a message may show. */
export function showText(text: string): string {
  return looksLikeAddress(text) ? showValue(text) : text;
}

/** Prints an error, or a note. */
export function printError(text: string): void {
  console.error(showError(text));
}

/** Whether a text may be an address, with or without a user and a password in it. */
export function looksLikeAddress(text: string): boolean {
  return /@|:\/\//.test(text);
}

function isExample(text: string): boolean {
  return new RegExp(`//(?:${EXAMPLES})`).test(text);
}

/** An argument and the part after its `=`, if they look like an address: with the option's name, the address may be anywhere. */
function partsOf(argument: string): string[] {
  const parts = [argument];
  for (let at = argument.indexOf("="); at >= 0; at = argument.indexOf("=", at + 1)) parts.push(argument.slice(at + 1));
  return parts.filter(looksLikeAddress);
}

function showValue(value: string): string {
  const place = value.includes("@") ? undefined : PLACE.exec(value)?.[1];
  const isWhole = place !== undefined && value.slice(place.length).replace("/", "") === "";
  return place === undefined ? HIDDEN : isWhole ? value : `${place}/${HIDDEN}`;
}
