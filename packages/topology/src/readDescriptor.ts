import { isDeepStrictEqual } from "node:util";
import { DelayTopologyError, knownProperties, shownName } from "./errors";
import { openedJson } from "./openedJson";
import type { KnownNames, Source } from "./optionReading";

interface Head {
  kind: string;
  version: 1;
}

/** A descriptor's properties, none of them checked. */
export type Unchecked<T> = Partial<Record<keyof T, unknown>>;

/**
 * Reads a descriptor that came from elsewhere: makes it once more from what it says, and compares. So a descriptor has one meaning,
 * whoever wrote it, and needs no rules beside those of its options.
 * @param value the descriptor, or its JSON text
 * @param property what the error shall call it
 * @param make makes it from its own properties
 * @throws DelayTopologyError for another kind or version, or for a property that is missing, malformed or does not fit the others
 */
export function readDescriptor<T extends Head>(
  value: unknown,
  kind: T["kind"],
  property: string,
  make: (given: Unchecked<T>, source: Source) => T,
): T {
  const given = checkHead<T>(value, kind, property);
  const at = (name: string): string => `${property}.${name}`;
  const made = make(given, { at, isComplete: true });
  checkDescriptorKeys(given, Object.keys(made), property);
  for (const key of Object.keys(made) as (keyof T & string)[]) {
    if (isDeepStrictEqual(given[key], made[key])) continue;
    const wanted = typeof made[key] === "string" ? made[key] : JSON.stringify(made[key]);
    throw new DelayTopologyError(at(key), given[key], `with its other properties as they are, it must be ${wanted}`);
  }
  return made;
}

/**
 * The options that a descriptor was made from: all known ones, under the descriptor's names.
 * @param names what the descriptor calls an option, where it is not the option's own name
 */
export function optionsIn(
  known: KnownNames,
  given: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  const options = Object.keys(known).map((option) => [option, given[names[option] ?? option]] as const);
  return Object.fromEntries(options.filter(([, value]) => value !== undefined));
}

/** Names the properties of a descriptor in messages about the options that it was made from. */
export function namedAs(source: Source, names: Readonly<Record<string, string>>): Source {
  const at = (option: string): string => source.at(option.replace(/^\w+/, (name) => names[name] ?? name));
  return { ...source, at };
}

function checkHead<T extends Head>(value: unknown, kind: T["kind"], property: string): Unchecked<T> {
  const opened = openedJson(value);
  if (typeof opened !== "object" || opened === null || Array.isArray(opened)) {
    const allowed = `it must be a descriptor (an object with kind: ${kind}), or its JSON text`;
    throw new DelayTopologyError(property, value, allowed);
  }
  const descriptor = opened as Unchecked<T>;
  if (descriptor.kind !== kind)
    throw new DelayTopologyError(`${property}.kind`, descriptor.kind, `it must be "${kind}"`);
  if (descriptor.version !== 1) {
    throw new DelayTopologyError(`${property}.version`, descriptor.version, "this release reads version 1");
  }
  return descriptor;
}

/**
 * Looks for properties of a descriptor that nobody reads. A release that adds one gives its descriptors another version, so in a known one
 * it is a slip of whoever wrote it by hand, and what was meant would be missing.
 * @throws DelayTopologyError for the first of them that has a value, which is not shown, with the nearest of the known ones
 */
export function checkDescriptorKeys(descriptor: object, known: readonly string[], property: string): void {
  const unknown = Object.entries(descriptor).find(([key, value]) => value !== undefined && !known.includes(key));
  if (unknown === undefined) return;
  const [key, value] = unknown;
  throw new DelayTopologyError(`${property}.${shownName(key)}`, value, knownProperties(known, key), true);
}
