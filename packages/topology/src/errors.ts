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
    super(`${property}: ${show(value, isHidden || isMisplaced(value, allowed))} is not allowed; ${allowed}`);
  }

  /** The same refusal, of which a text is not shown. */
  withoutText(): DelayTopologyError {
    return new DelayTopologyError(this.property, this.value, this.allowed, true);
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

/** Starts of what is allowed where no text can stand. */
const NO_TEXT =
  /^(it must be (an object|a list|true or false|a whole number|a number(?! of)|a version|a delay network's descriptor|one of \d|\d+(, \d+)* or \d|the \d+ exchanges|one line of text)|this release reads|it follows from password|its keys must be|known properties are)/;
/** Starts of what is allowed where no number can stand. */
const NO_NUMBER =
  /^(it must be (a (non-empty )?text|an object|a list|true or false|the name|one of \D|1 to|an? http|a host|an image|a number of processors|a plugin|one line|a key|like)|it must (name|have|end)|a network.s name|give it as|it follows from|its keys must be|known properties are)/;
/** Starts of what is allowed where a text stands that is the name of something on Kubernetes, or an address. */
const NAME_ON_KUBERNETES =
  /^it must (name|end with a tag|be (the name of an? (object of )?Kubernetes|an image|like amqps?:|a host name|a key of a Secret))/;
/** A name of something on Kubernetes, of an image, or of a host: no address, and nothing with spaces, as a key in PEM has. */
const LIKE_A_NAME = /^(?!.*:\/\/)(?!.*@(?!sha256:))[\w.:/@*-]*$/;

/**
 * Whether a value stands where it can't belong: at a property that nobody knows, or in place of something of another kind. It could
 * be a password that was mistyped, which may have digits alone, so it is in no message; nor is an address with a user, which may have
 * one in it, nor what can't be a name where a name on Kubernetes belongs: it may be a key.
 */
function isMisplaced(value: unknown, allowed: string): boolean {
  if (typeof value === "number" || typeof value === "bigint") return NO_NUMBER.test(allowed);
  if (typeof value !== "string") return false;
  if (NAME_ON_KUBERNETES.test(allowed) && !LIKE_A_NAME.test(value)) return true;
  return /:\/\/.*@/s.test(value) || NO_TEXT.test(allowed);
}

function show(value: unknown, isHidden: boolean): string {
  if (value === undefined) return "undefined";
  if (typeof value === "symbol") return String(value.description);
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
