import { StoreMismatchError } from "../errors";

/** Settings that hold an address with a password. */
const ADDRESSES = ["store", "amqp", "management"];
/** The keys of a descriptor, or of the options from which one is made. */
const DESCRIPTOR_KEYS = [
  ...["kind", "version", "name", "intakeQueue", "errorQueue", "controlQueue", "forwards", "toQueues", "exchanges"],
  ...["exchange", "delivery", "type", "declare", "returnQueue", "singleActiveConsumer", "network"],
  ...["vhost", "preset", "prefix", "radix", "levels", "unitMs", "queueType", "matching", "maximumDelayMs"],
  ...["entryExchanges", "deliveryExchange", "bindingExchange", "parkingExchange", "parkingQueue"],
];
/** Names that people give by mistake, and that are not secrets themselves. */
const COMMON_NAMES = ["password", "user", "username", "login", "host", "hostname", "port", "vhost", "database", "url"];
const MOST_TYPOS = 2;

/** A name is not known; the message contains no value, and no name that may be one. */
export class UnknownNameError extends StoreMismatchError {}

/**
 * Runs work on settings; an error that would show a password, wherever it was put by mistake, is replaced by one that only names the
 * setting.
 * @param known names of the settings
 * @throws StoreMismatchError, or any other error of `work`
 */
export function keepSecrets<T>(options: unknown, known: readonly string[], work: () => T): T {
  try {
    return work();
  } catch (error) {
    const secrets = secretsOf(options, known);
    const shows = (text: string): boolean => secrets.some((secret) => text.includes(secret));
    const { message, property } = error as Error & { property?: string };
    if (error instanceof UnknownNameError || !shows(message)) throw error;
    const where = property === undefined || shows(property) ? "settings" : property;
    throw new StoreMismatchError(where, "it is not allowed, and not shown, because it may hold a password");
  }
}

/** An unknown name in a form that a message may show: a name similar to a known one; any other may be a value in the wrong place. */
export function showName(name: string, known: readonly string[]): string | undefined {
  if (COMMON_NAMES.includes(name.toLowerCase())) return name;
  return nearest(name, known) === undefined ? undefined : name;
}

/** The known name that was probably meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const same = known.find((one) => normalize(one) === normalize(name));
  if (same !== undefined || name.length <= MOST_TYPOS + 1) return same;
  return known.find((one) => distance(one.toLowerCase(), name.toLowerCase()) <= MOST_TYPOS);
}

function secretsOf(options: unknown, known: readonly string[]): string[] {
  const found = new Set<string>();
  const look = (value: unknown, isSecret: boolean, names: readonly string[]): void => {
    if (typeof value === "string" || typeof value === "number") {
      const text = String(value);
      if (isSecret || /@|:\/\//.test(text)) for (const part of partsOf(text)) found.add(part);
    } else if (Array.isArray(value)) {
      for (const part of value) look(part, isSecret, names);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, part] of Object.entries(value)) {
        const isKnown = names.includes(key);
        if (!isKnown && showName(key, names) === undefined) found.add(key);
        const isAddress = names === known && ADDRESSES.includes(key);
        look(part, isSecret || !isKnown || isAddress, key === "descriptor" ? DESCRIPTOR_KEYS : names);
      }
    }
  };
  look(options, false, known);
  found.delete("");
  return [...found];
}

/** A text, and the password of the address in it, as it is written and decoded. */
function partsOf(text: string): string[] {
  const [, password] = /\/\/[^/]*?:(.*)@/s.exec(text) ?? [];
  const parts = [text, ...(password === undefined ? [] : [password, decode(password)])];
  return [...parts, ...parts.map((part) => JSON.stringify(part).slice(1, -1))];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, "");
}

/** How many letters have to be added, left out or changed (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (b[j - 1] === letter ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
