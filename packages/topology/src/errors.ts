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
    isHidden = false,
  ) {
    super(`${property}: ${show(value, isHidden || isMisplaced(value, allowed))} is not allowed; ${allowed}`);
  }

  /** The same refusal, of which a text is not shown. */
  withoutText(): DelayTopologyError {
    return new DelayTopologyError(this.property, this.value, this.allowed, true);
  }

  /** Node's `util.inspect` follows whatever hangs on an error; Pulumi's SDK hangs promises on it, and then takes half a minute. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.stack ?? this.message;
  }
}

/** Starts of what is allowed where no text can stand. */
const NO_TEXT =
  /^(it must be (an object|a list|true or false|a whole number|a number|a version|a delay network's descriptor|one of \d|\d+(, \d+)* or \d|the \d+ exchanges)|this release reads|known properties are)/;
/** Starts of what is allowed where no number can stand. */
const NO_NUMBER =
  /^(it must be (a (non-empty )?text|an object|a list|true or false|the name|one of \D|1 to|an? http)|a network.s name|give it as|known properties are)/;

/**
 * Whether a value stands where it can't belong: at a property that nobody knows, or in place of something of another kind. It could
 * be a password that was mistyped, which may have digits alone, so it is in no message; nor is an address with a user, which may have
 * one in it.
 */
function isMisplaced(value: unknown, allowed: string): boolean {
  if (typeof value === "number" || typeof value === "bigint") return NO_NUMBER.test(allowed);
  return typeof value === "string" && (/:\/\/.*@/s.test(value) || NO_TEXT.test(allowed));
}

function show(value: unknown, isHidden: boolean): string {
  if (value === undefined) return "undefined";
  if (isHidden && typeof value === "string") return "this text";
  if (typeof value === "number" || typeof value === "bigint") return isHidden ? "this number" : String(value);
  const text = typeof value === "function" ? "a function" : shownJson(value);
  return text.length > 320 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}

/** The texts and numbers in an object or a list are not shown: one of them could be a password. */
function shownJson(value: unknown): string {
  const hide = (key: string, part: unknown): unknown =>
    key !== "" && ["string", "number", "bigint"].includes(typeof part) ? "…" : part;
  try {
    return JSON.stringify(value, hide) ?? String(value);
  } catch {
    return "this value";
  }
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

/**
 * Looks at options before they are read, where no compiler did.
 * @param prefix what stands before a property's name, e.g. `storage.`
 * @throws DelayTopologyError for what is no object, or has a property that is not known
 */
export function checkKnown(what: string, options: unknown, known: readonly string[], prefix = ""): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new DelayTopologyError(what, options, `it must be an object with some of ${known.join(", ")}`);
  }
  for (const [key, value] of Object.entries(options)) {
    if (known.includes(key)) continue;
    throw new DelayTopologyError(`${prefix}${shownName(key)}`, value, `known properties are ${known.join(", ")}`);
  }
}
