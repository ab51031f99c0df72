import { nearest } from "./nearest";

/** Every refusal of this package: says which property, what it was, and what is allowed. */
export class DelayTopologyError extends Error {
  override readonly name = "DelayTopologyError";

  /**
   * @param property name of the refused property, e.g. `radix`
   * @param value the refused value, as given
   * @param allowed what is allowed, as the end of a sentence, e.g. `one of 2, 4, 8, 16`
   * @param isHidden whether a text is not shown, wherever it stands
   */
  constructor(
    readonly property: string,
    readonly value: unknown,
    readonly allowed: string,
    private readonly isHidden = false,
  ) {
    const what = allowed.startsWith(KNOWN)
      ? "unknown property"
      : `${show(value, isHidden || isMisplaced(value, allowed))} is not allowed`;
    super(`${property}: ${what}; ${allowed}`);
  }

  /** The same refusal, of which a text is not shown. */
  withoutText(): DelayTopologyError {
    return new DelayTopologyError(this.property, this.value, this.allowed, true);
  }

  /**
   * The same refusal of a value that is a secret, or of what stands in one.
   * @param redact takes what the secret holds out of a text
   */
  ofSecret(redact: (text: string) => string): DelayTopologyError {
    const isOwn = typeof this.value === "string" && IN_PLACE_OF_VALUE.test(this.value);
    const value = isOwn || this.value === undefined ? this.value : Symbol("a secret");
    // What stands in a secret and is no known property could be part of it by its name.
    const property = /^known properties are|^nothing reads it/.test(this.allowed)
      ? (/^\w+/.exec(this.property)?.[0] ?? "a property")
      : this.property;
    return new DelayTopologyError(property, value, redact(this.allowed), this.isHidden);
  }

  /** The same refusal of a property that stands in a part, e.g. `cluster`. */
  within(part: string): DelayTopologyError {
    return new DelayTopologyError(`${part}.${this.property}`, this.value, this.allowed, this.isHidden);
  }

  /** Node's `util.inspect` follows whatever hangs on an error; Pulumi's SDK hangs promises on it, and then takes half a minute. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.stack ?? this.message;
  }
}

/** Starts what is allowed where somebody wrote a property that nobody reads; its value is not shown. */
const KNOWN = "known properties are ";

/** Says what is allowed in place of a property that nobody reads: the known ones, and which was meant where one is near. */
export function knownProperties(known: readonly string[], written?: string): string {
  const meant = written === undefined ? undefined : nearest(written, known);
  return `${KNOWN}${known.join(", ")}${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

/** The same sentence for the name that was written, with further known properties. */
export function knownBeside(allowed: string, written: string, beside: readonly string[] = []): string {
  const [known = ""] = allowed.slice(KNOWN.length).split(";");
  return knownProperties([...known.split(", "), ...beside], written);
}

/**
 * Reads a part of what somebody wrote. Where it has a property that nobody reads, the refusal lists those of the rest as well.
 * @param beside names of the properties that are read elsewhere
 * @throws what `read` throws
 */
export function readBeside<T>(beside: readonly string[], read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DelayTopologyError) || !error.allowed.startsWith(KNOWN) || /[.[]/.test(error.property))
      throw error;
    throw new DelayTopologyError(error.property, error.value, knownBeside(error.allowed, error.property, beside));
  }
}

/** Starts of what is allowed where no text can stand. */
const NO_TEXT =
  /^(it must be (an object|a descriptor|a list|true or false|a whole number|a number(?! of)|a version|a delay network's descriptor|one of \d|\d+(, \d+)* or \d|the \d+ exchanges|one line of text)|this release reads|it follows from password|its keys must be|known properties are)/;
/** What is allowed where a number belongs, a duration, or the version of a format; anywhere else a number could be a password of digits. */
const ABOUT_NUMBERS =
  /^(it must be (a whole number|a number(?! of processors)|whole seconds|a fraction|one of \d|at least|longer than)|this release reads)|\bit must be (\d+(?! to)\b|concurrency)|\b(ms|lease)\b|\bmatching is enforced has version/;
/** Starts of what is allowed where a login or a key is easily put by mistake: no text that is refused there is shown. */
const BESIDE_SECRETS =
  /^(it must (be (a number of processors|RabbitMQ \d|an image|an? http|like amqps?:|the name of an object|a key of a Secret)|name an object|end with a tag|have 1 to 64 letters)|the name must have)/;
/** A plain word, as names, durations and choices are. An address, a login, JSON and what is in PEM have other characters. */
const PLAIN_WORD = /^(?!.*:\/\/)[\p{L}\p{M}\p{N}_.:/#*+-]*$/u;
/** What this package's own code puts in the place of a value, in whose message the value has no place. */
const IN_PLACE_OF_VALUE = /^(\d+ (characters|redeliveries)|an async function|a promise|a secret)$/;

/**
 * Whether a value is not shown. Shown are a plain word and a number, and only where one of their sort belongs: what stands at a
 * property that nobody knows, or in place of something of another kind, could be a password that was mistyped, which may have letters
 * or digits alone; and what is no plain word could be an address with a password in it, or a key.
 */
function isMisplaced(value: unknown, allowed: string): boolean {
  if (typeof value === "number" || typeof value === "bigint") return !ABOUT_NUMBERS.test(allowed);
  if (typeof value !== "string" || IN_PLACE_OF_VALUE.test(value)) return false;
  return !PLAIN_WORD.test(value) || NO_TEXT.test(allowed) || BESIDE_SECRETS.test(allowed);
}

function show(value: unknown, isHidden: boolean): string {
  if (typeof value === "symbol") return String(value.description);
  if (typeof value === "string") return isHidden ? "this text" : shortened(JSON.stringify(value));
  if (typeof value === "number" || typeof value === "bigint") return isHidden ? "this number" : String(value);
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  if (isLater(value)) return "a value that is known later";
  // Neither the values nor the names in it are shown: each could be a password.
  if (Array.isArray(value)) return value.length === 0 ? "[]" : "[…]";
  return Object.keys(value).length === 0 ? "{}" : "{…}";
}

/** Whether a value is a promise or, as Pulumi has them, an output, which answers to any property. */
function isLater(value: object): boolean {
  return value instanceof Promise || (value as { __pulumiOutput?: unknown }).__pulumiOutput === true;
}

function shortened(text: string): string {
  return text.length > 320 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}

/** A property's name, as somebody may have written it: one that no property could have may be a value that slipped. */
export function shownName(name: string): string {
  return /^[A-Za-z_][\w-]{0,60}$/.test(name) ? name : "(a name that is not shown)";
}

/** Throws unless `value` is one of `allowed`. */
export function checkOneOf<T extends string | number>(property: string, value: unknown, allowed: readonly T[]): T {
  if (!allowed.includes(value as T)) {
    throw new DelayTopologyError(property, value, `it must be one of ${allowed.join(", ")}`);
  }
  return value as T;
}

/** Throws unless `value` is a whole number between `minimum` and `maximum`. */
export function checkInteger(property: string, value: unknown, minimum: number, maximum: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < minimum || value > maximum) {
    throw new DelayTopologyError(property, value, `it must be a whole number from ${minimum} to ${maximum}`);
  }
  return value;
}
