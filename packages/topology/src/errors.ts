/** Every refusal of this package: says which property, what it was, and what is allowed. */
export class DelayTopologyError extends Error {
  override readonly name = "DelayTopologyError";

  /**
   * @param property name of the refused property, e.g. `radix`
   * @param value the refused value, as given
   * @param allowed what is allowed, as the end of a sentence, e.g. `one of 2, 4, 8, 16`
   */
  constructor(
    readonly property: string,
    readonly value: unknown,
    readonly allowed: string,
  ) {
    super(`${property}: ${show(value)} is not allowed; ${allowed}`);
  }

  /** Node's `util.inspect` follows whatever hangs on an error; Pulumi's SDK hangs promises on it, and then takes half a minute. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.stack ?? this.message;
  }
}

function show(value: unknown): string {
  if (typeof value === "number" || typeof value === "bigint" || value === undefined) return String(value);
  const text = typeof value === "function" ? "a function" : (JSON.stringify(value) ?? String(value));
  return text.length > 320 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
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
