import * as pulumi from "@pulumi/pulumi";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { keepOnFailure } from "./keptOnFailure";
import "./userErrors";

/**
 * A component's arguments as its constructor reads them: what is null is not given, because programs in other languages
 * write so what they leave out. No arguments at all are as an empty object, so that the first one that is needed is named. Each component
 * begins with this, so that from here on a failed run keeps what is there.
 * @throws DelayTopologyError for what is no object
 */
export function givenArguments<T extends object>(args: T | null | undefined): T {
  const given = argumentsAsWritten(args);
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as T;
}

/** The same with what is null, for a component that takes no null for its secrets. @throws DelayTopologyError */
export function argumentsAsWritten<T extends object>(args: T | null | undefined): T {
  keepOnFailure();
  if (isLater(args))
    throw new DelayTopologyError("args", AN_OUTPUT, "it must be an object, known before anything is made");
  if (args !== null && args !== undefined && (typeof args !== "object" || Array.isArray(args)))
    throw new DelayTopologyError("args", args, "it must be an object");
  return args ?? ({} as T);
}

/** Where arguments may be values that are known later. */
interface InputPlaces {
  /** Properties that may be such values, or hold them; where they are plain values, the schema checks them. */
  later?: readonly string[];
  /** Properties in which such values may stand, but that are none themselves. */
  holders?: readonly string[];
  /** Maps, as `ingress.annotations`, whose values may be such values; where they are plain values, the schema checks them. */
  laterIn?: readonly string[];
  /** Properties that somebody else checks. */
  unchecked?: readonly string[];
}

/**
 * Reads a component's arguments, or a part of them, by their schema.
 * @param read reads them by the schema, but for the properties that it is told not to check
 * @throws DelayTopologyError that names the refused property; for an output, too, where a value has to be known
 */
export function readArguments<T>(
  args: unknown,
  read: (given: unknown, unchecked: readonly string[]) => T,
  { later = [], holders = [], laterIn = [], unchecked = [] }: InputPlaces,
): T {
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args) && !isLater(args);
  const given = isObject ? Object.entries(args) : [];
  const open = [
    ...unchecked,
    ...given.filter(([name, value]) => later.includes(name) && isLater(value)).map(([name]) => name),
  ];
  const isHolder = (name: string): boolean => open.includes(name) || later.includes(name);
  const marked = given.map(([name, value]) => {
    if (isHolder(name)) return [name, value] as const;
    return [name, holders.includes(name) && !isLater(value) ? value : markOutputs(value, name, laterIn)] as const;
  });
  try {
    return read(isObject ? Object.fromEntries(marked) : markOutputs(args, "", []), open);
  } catch (error) {
    if (!(error instanceof DelayTopologyError) || error.value !== AN_OUTPUT) throw error;
    throw new DelayTopologyError(error.property, AN_OUTPUT, `${error.allowed}, known before anything is made`);
  }
}

/** What stands for an output, which no schema takes. */
const AN_OUTPUT = Symbol("an output");

/** What stands for an output in a map whose values are texts, known later or not. */
const A_TEXT = "known later";

/**
 * A value with a mark in the place of each output in it.
 * @param path of the value
 * @param laterIn paths of maps whose values may be outputs
 */
function markOutputs(value: unknown, path: string, laterIn: readonly string[]): unknown {
  if (isLater(value)) return AN_OUTPUT;
  if (Array.isArray(value)) return value.map((item) => markOutputs(item, `${path}[]`, laterIn));
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const mark = (name: string, part: unknown): unknown =>
    laterIn.includes(path) && isLater(part) ? A_TEXT : markOutputs(part, `${path}.${name}`, laterIn);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, mark(name, part)]));
}

/** Whether a value is known later: an output or a promise. */
export function isLater(value: unknown): boolean {
  return pulumi.Output.isInstance(value) || value instanceof Promise;
}
