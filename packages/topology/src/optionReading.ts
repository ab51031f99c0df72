import { checkInteger, checkOneOf, DelayTopologyError, knownProperties, shownName } from "./errors";

/** Origin of options. */
export interface Source {
  /** Names a property for messages. */
  at: (property: string) => string;
  /** Whether each property with a default must be present, as in a descriptor: its writer has filled them in. */
  isComplete: boolean;
  /** Properties that are not checked, because they are known later or read elsewhere. */
  unchecked?: readonly string[];
}

/** Options that a person wrote in a program or a file, under their own names. */
export const byHand: Source = { at: (property) => property, isComplete: false };

/** Checks a value and throws a DelayTopologyError; `property` is the name in the error. */
export type Rule = (property: string, value: unknown) => unknown;

/** Known names of an object: `true` for a value, the names of a nested object, or a list with the names of each item. */
export interface KnownNames {
  readonly [name: string]: true | KnownNames | readonly [KnownNames];
}

/** A value among the options: its path, the value that counts, and the value as it was given, which messages show. */
export interface Found {
  readonly path: string;
  readonly value: unknown;
  readonly given: unknown;
}

/** An object among the options, whose properties are read one by one. */
export class GivenObject {
  constructor(
    private readonly values: Readonly<Record<string, unknown>>,
    private readonly path: string,
    private readonly isComplete: boolean,
  ) {}

  /** Returns the value of a property; null is no value, because YAML and programs in other languages write so what they leave out. */
  found(name: string): Found {
    const given = Object.hasOwn(this.values, name) ? this.values[name] : undefined;
    const value = given === null && !this.isComplete ? undefined : given;
    return { path: this.path === "" ? name : `${this.path}.${name}`, value, given };
  }

  /** Whether an optional property is missing. */
  lacks(name: string): boolean {
    return this.found(name).value === undefined;
  }

  /** Whether a property takes its default; the options of a descriptor have none, but objects in it have. */
  takesDefault(name: string): boolean {
    return this.lacks(name) && !(this.isComplete && this.path === "");
  }

  /** Returns the options without missing ones; one that a nested object has as undefined stays. */
  withoutMissing<T extends object>(read: T): T {
    const isKept = ([name, value]: [string, unknown]): boolean =>
      value !== undefined || (this.path !== "" && Object.hasOwn(this.values, name) && this.values[name] === undefined);
    return Object.fromEntries(Object.entries(read).filter(isKept)) as T;
  }

  /** Reads an object in this one. */
  object<T extends object>(found: Found, known: KnownNames, read: (object: GivenObject) => T): T {
    // An object that is missing lacks what it needs.
    const { value = {} } = found;
    if (!isObject(value)) return refuse(found, someOf(known));
    const object = new GivenObject(value, found.path, this.isComplete);
    return object.withoutMissing(read(object));
  }
}

/**
 * Reads options.
 * @param what names the options as a whole, for messages
 * @throws DelayTopologyError for the first property that is not known, at any depth, else for the first that a rule refuses
 */
export function readObject<T extends object>(
  given: unknown,
  what: string,
  { at, isComplete }: Source,
  known: KnownNames,
  read: (options: GivenObject) => T,
): T {
  try {
    if (!isObject(given)) return refuse({ path: "", value: given, given }, someOf(known));
    refuseUnknown(known, given, "");
    const options = new GivenObject(given, "", isComplete);
    return options.withoutMissing(read(options));
  } catch (error) {
    if (!(error instanceof DelayTopologyError)) throw error;
    throw new DelayTopologyError(error.property === "" ? what : at(error.property), error.value, error.allowed);
  }
}

/** Refuses the first property that is not known; those of nested objects come first. */
function refuseUnknown(known: KnownNames, given: Readonly<Record<string, unknown>>, path: string): void {
  for (const [name, part] of Object.entries(known)) {
    const value = given[name];
    const place = `${path}${name}`;
    if (part === true) continue;
    if (!isList(part)) {
      if (isObject(value)) refuseUnknown(part, value, `${place}.`);
    } else if (Array.isArray(value)) {
      const [ofItem] = part;
      value.forEach((item: unknown, index) => isObject(item) && refuseUnknown(ofItem, item, `${place}[${index}].`));
    }
  }
  const names = Object.keys(known);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new DelayTopologyError(`${path}${shownName(unknown)}`, given[unknown], knownProperties(names, unknown));
}

/** Reads a text that a rule checks. */
export function readText(found: Found, rule: Rule): string {
  const { value } = found;
  if (typeof value !== "string") return refuse(found, withQuotes(refusalOf(rule, value) ?? "it must be a text", value));
  obey(found, rule);
  return value;
}

/** Reads any text. */
export function readAnyText(found: Found, allowed: string): string {
  return typeof found.value === "string" ? found.value : refuse(found, withQuotes(allowed, found.value));
}

/** Reads a text that is not empty. */
export function readFilledText(found: Found, allowed: string): string {
  return readAnyText(found, allowed) === "" ? refuse(found, allowed) : (found.value as string);
}

/** Reads a delay: a number, or a text that the rule of the list checks. */
export function readNumberOrText(found: Found, rule: Rule): number | string {
  const { value } = found;
  if (typeof value === "string" || (typeof value === "number" && Number.isFinite(value))) return value;
  return refuse(found, refusalOf(rule, value) ?? "it must have another form");
}

/** Reads a whole number from `minimum` to `maximum`. */
export function readWholeNumber(found: Found, minimum: number, maximum: number): number {
  const rule: Rule = (property, value) => checkInteger(property, value, minimum, maximum);
  const allowed = refusalOf(rule, found.value);
  return allowed === undefined
    ? (found.value as number)
    : refuse(found, withoutQuotes(allowed, isNumeric(found.value)));
}

/** Reads one of a few words. */
export function readWord<const T extends string>(found: Found, words: readonly T[]): T {
  obey(found, (property, value) => checkOneOf(property, value, words));
  return found.value as T;
}

/** Reads one of a few numbers. */
export function readNumberOf<const T extends number>(found: Found, numbers: readonly T[], allowed: string): T {
  const { value } = found;
  if (numbers.includes(value as T)) return value as T;
  return refuse(found, withoutQuotes(allowed, isNumeric(value) && numbers.includes(Number(value) as T)));
}

/** Reads true or false. */
export function readFlag(found: Found, allowed: string): boolean {
  return typeof found.value === "boolean" ? found.value : refuse(found, allowed);
}

/**
 * Reads a list.
 * @param allowed words for what is no list, or has too few items; or the rule of the list as a whole, which follows those of its items
 * @param least the smallest number of items
 */
export function readList<T>(found: Found, allowed: string | Rule, readItem: (item: Found) => T, least = 0): T[] {
  const { path, value } = found;
  const isRuled = typeof allowed !== "string";
  if (!Array.isArray(value))
    return refuse(found, isRuled ? (refusalOf(allowed, value) ?? "it must be a list") : allowed);
  const list = Array.from(value, (item: unknown, index) =>
    readItem({ path: `${path}[${index}]`, value: item, given: item }),
  );
  if (isRuled) obey(found, allowed);
  else if (list.length < least) refuse(found, allowed);
  return list;
}

/** Returns a list that has at most so many items. */
export function atMost<T>(found: Found, list: T[], most: number, allowed: string): T[] {
  return list.length <= most ? list : refuse(found, allowed);
}

/** Returns the end of a rule's sentence about a value, or undefined if the rule allows the value. */
export function refusalOf(rule: Rule, value: unknown): string | undefined {
  try {
    rule("", value);
    return undefined;
  } catch (error) {
    return (error as DelayTopologyError).allowed;
  }
}

/** Returns what is allowed where a text belongs: a number in its place, as YAML reads `2024`, needs quotes. */
export function withQuotes(allowed: string, given: unknown): string {
  return typeof given === "number" ? `${allowed}; put quotes around it, so that it is a text` : allowed;
}

/** Returns what is allowed where a number belongs, beside a text of a number. */
export function withoutQuotes(allowed: string, isText: boolean): string {
  return isText ? `${allowed}, written without quotes` : allowed;
}

/** Whether a value is the text of a number. */
export function isNumeric(value: unknown): value is string {
  return typeof value === "string" && /^\d+(\.\d+)?$/.test(value);
}

/** Runs a rule; the property of its error, e.g. `[2]`, is the refused item. */
function obey(found: Found, rule: Rule): void {
  try {
    rule("", found.value);
  } catch (error) {
    if (!(error instanceof DelayTopologyError)) throw error;
    const index = /^\[(\d+)\]$/.exec(error.property)?.[1];
    const value = index === undefined ? found.given : (found.given as unknown[])[Number(index)];
    throw new DelayTopologyError(`${found.path}${error.property}`, value, error.allowed);
  }
}

function refuse({ path, given }: Found, allowed: string): never {
  throw new DelayTopologyError(path, given, allowed);
}

function someOf(known: KnownNames): string {
  return `it must be an object with some of ${Object.keys(known).join(", ")}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(part: KnownNames | readonly [KnownNames]): part is readonly [KnownNames] {
  return Array.isArray(part);
}
