import type { z } from "zod";
import { DelayTopologyError, shownName } from "../errors";
import { nearest } from "./nearest";
import { zod } from "./zod";

/** Where options come from. */
export interface Source {
  /** Names a property for messages. */
  at: (property: string) => string;
  /** Whether each property has to be there that has a default, as in a descriptor: its writer has filled them in. */
  isComplete: boolean;
}

/** What somebody wrote by hand, in a program or a file, and calls by its own names. */
export const byHand: Source = { at: (property) => property, isComplete: false };

/**
 * Reads options. One that is null is not given, because YAML and programs in other languages write so what they leave out; a descriptor has
 * no such ones.
 * @param what names the options as a whole, for messages
 * @throws DelayTopologyError for the first property that nobody reads, else for the first that is not as the schema has it
 */
export function readOptions<T extends z.ZodObject>(
  schema: T,
  given: unknown,
  what: string,
  { at, isComplete }: Source = byHand,
): z.output<T> {
  const result = isComplete ? withoutDefaults(schema).safeParse(given) : schema.safeParse(withoutNull(schema, given));
  if (result.success) return withoutUndefined(result.data) as z.output<T>;
  const { issues } = result.error;
  // A misspelled property is also a missing one, and its name helps more.
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? (issues[0] as z.core.$ZodIssue);
  const [unknownKey] = issue.code === "unrecognized_keys" ? issue.keys : [];
  const path = unknownKey === undefined ? issue.path : [...issue.path, unknownKey];
  const property = shownPath(unknownKey === undefined ? path : [...issue.path, shownName(unknownKey)]);
  const value = path.reduce<unknown>((part, key) => (part as Record<PropertyKey, unknown> | undefined)?.[key], given);
  const allowed = unknownKey === undefined ? issue.message : withNearest(issue.message, unknownKey);
  throw new DelayTopologyError(property === "" ? what : at(property), value, allowed);
}

function withoutDefaults(schema: z.ZodObject): z.ZodObject {
  const fields = Object.entries(schema.shape);
  return zod().strictObject(
    Object.fromEntries(
      fields.map(([name, field]) => [name, field instanceof zod().ZodDefault ? field.unwrap() : field]),
    ),
  );
}

/** A value of a field without those options in it that are null; a name of the writer's own, as of a network, stays. */
function withoutNull(field: z.core.$ZodType, value: unknown): unknown {
  const { ZodOptional, ZodDefault, ZodArray, ZodRecord, ZodObject } = zod();
  if (field instanceof ZodOptional || field instanceof ZodDefault) return withoutNull(field.unwrap(), value);
  if (field instanceof ZodArray && Array.isArray(value)) return value.map((item) => withoutNull(field.element, item));
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  if (field instanceof ZodRecord)
    return Object.fromEntries(entries.map(([name, part]) => [name, withoutNull(field.valueType, part)]));
  if (!(field instanceof ZodObject)) return value;
  const { shape } = field;
  const read = entries.filter(([name, part]) => part !== null || !Object.hasOwn(shape, name));
  return Object.fromEntries(
    read.map(([name, part]) => [
      name,
      Object.hasOwn(shape, name) ? withoutNull(shape[name] as z.core.$ZodType, part) : part,
    ]),
  );
}

/** An option that is given as undefined is not given. */
function withoutUndefined(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** A path as a program would write it: `forwards[0].exchange`. */
function shownPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");
}

/** The sentence that lists the known properties, and the one that was meant where one is near. */
function withNearest(message: string, key: string): string {
  const known = message.replace(/^known properties are /, "").split(", ");
  const meant = nearest(key, known);
  return meant === undefined ? message : `${message}; did you mean ${meant}?`;
}
