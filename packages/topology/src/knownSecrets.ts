import { escapeRegex } from "./entities";

/** Replaces a secret in a text; the engine writes the same. */
export const SECRET = "[secret]";

/** Shorter ones are parts of many words, and are only replaced if they stand alone, such as the password `guest`. */
const SHORTEST_IN_WORDS = 6;
/** Still shorter ones are words of any text. */
const SHORTEST_KNOWN = 4;

/** Secrets in the order in which they are replaced, the longest first; those under 4 characters are ignored. */
export function replaceable(known: Iterable<string>): string[] {
  return [...new Set(known)].filter(({ length }) => length >= SHORTEST_KNOWN).sort((a, b) => b.length - a.length);
}

/** A text without the secrets that it is known to hold, whatever they look like. */
export function withoutKnown(text: string, known: Iterable<string>): string {
  return replaceable(known).reduce(withoutSecret, text);
}

function withoutSecret(text: string, secret: string): string {
  if (secret.length >= SHORTEST_IN_WORDS) return text.replaceAll(secret, SECRET);
  return text.replace(new RegExp(`(?<!\\w)${escapeRegex(secret)}(?!\\w)`, "g"), SECRET);
}

/** All texts and numbers in a value that is secret, in each form that a message could have them in. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return formsOf(value);
  if (typeof value === "number" || typeof value === "bigint") return [String(value)];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** A secret as it is, and in the forms of a URL, JSON (also JSON within JSON, and as Go and Python write it), and HTML. */
export function formsOf(secret: string): string[] {
  if (secret === SECRET || secret === "") return [];
  let decoded = secret;
  try {
    decoded = decodeURIComponent(secret);
  } catch {
    // It can't be encoded as part of a URL.
  }
  const quoted = [secret, decoded].flatMap((text) => {
    const json = JSON.stringify(text).slice(1, -1);
    return [json, inHex(json, /[<>&]/g), inHex(json, /[^\x20-\x7e]/g), inHex(json, /[<>&]|[^\x20-\x7e]/g)];
  });
  const twice = quoted.map((text) => JSON.stringify(text).slice(1, -1));
  const html = ["&#34;", "&quot;"].map((quote) =>
    secret
      .replace(/&/g, "&amp;")
      .replace(/</g, "&lt;")
      .replace(/>/g, "&gt;")
      .replace(/"/g, quote)
      .replace(/'/g, "&#39;"),
  );
  return [...new Set([secret, decoded, percentEncoded(secret), ...quoted, ...twice, ...html])];
}

function percentEncoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    // Half of a character has no such form.
    return text;
  }
}

/** Writes characters as JSON does where it has to be plain, such as \u0026. */
function inHex(text: string, characters: RegExp): string {
  return text.replace(characters, (found) =>
    [...Array(found.length).keys()]
      .map((index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
