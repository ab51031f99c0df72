import type { z } from "zod";
import { DelayTopologyError, knownBeside, shownName } from "../errors";
import { byHand, isNumeric, Source, withoutQuotes } from "../optionReading";
import { inPlainWords } from "../plainWords";
import { anything, object } from "./fields";
import { isSecret } from "./secret";
import { zod } from "./zod";

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
  { at, isComplete, unchecked = [] }: Source = byHand,
): z.output<T> {
  const checked = withoutChecks(isComplete ? withoutDefaults(schema) : schema, unchecked);
  const result = checked.safeParse(isComplete ? given : withoutNull(checked, given), { error: inPlainWords });
  if (result.success) return withoutUndefined(result.data) as z.output<T>;
  throw refusalOf(checked, given, issueOf(checked, given, result.error), what, at);
}

/** What is said of options that a schema refuses. */
function issueOf(schema: z.ZodObject, given: unknown, { issues }: z.ZodError): z.core.$ZodIssue {
  // A misspelled property is also a missing one, and its name helps more.
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? (issues[0] as z.core.$ZodIssue);
  const part = fieldAt(schema, issue.path);
  if (issue.path.length === 0 || !(part instanceof zod().ZodObject) || valueAt(given, issue.path) !== undefined)
    return issue;
  // An object that is missing lacks what it needs.
  const [needed] = part.safeParse({}, { error: inPlainWords }).error?.issues ?? [];
  return needed === undefined ? issue : { ...needed, path: [...issue.path, ...needed.path] };
}

function refusalOf(
  schema: z.ZodObject,
  given: unknown,
  issue: z.core.$ZodIssue,
  what: string,
  at: Source["at"],
): DelayTopologyError {
  const place = shownPath(issue.path);
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const property = place === "" ? shownName(key) : `${place}.${shownName(key)}`;
    return new DelayTopologyError(at(property), valueAt(given, [...issue.path, key]), knownBeside(issue.message, key));
  }
  const value = valueAt(given, issue.path);
  const property = place === "" ? what : at(place);
  const field = fieldAt(schema, issue.path);
  if (field === undefined || !isSecret(field)) {
    return new DelayTopologyError(property, value, withoutQuotes(issue.message, isQuotedNumber(value, issue)));
  }
  return typeof value === "string"
    ? new DelayTopologyError(property, `${value.length} characters`, issue.message)
    : new DelayTopologyError(property, value, issue.message, true);
}

/** Whether a value is the text of a number where a number belongs. */
function isQuotedNumber(value: unknown, issue: z.core.$ZodIssue): boolean {
  if (!isNumeric(value)) return false;
  if (issue.code === "invalid_value") return issue.values.includes(Number(value));
  return issue.code === "invalid_type" && (issue.expected === "number" || issue.expected === "int");
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((part, key) => (part as Record<PropertyKey, unknown> | undefined)?.[key], given);
}

/** The field of a schema at a path, without what says whether it may be left out. */
function fieldAt(field: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  const { ZodOptional, ZodDefault, ZodArray, ZodRecord, ZodObject } = zod();
  if (field instanceof ZodOptional || field instanceof ZodDefault) return fieldAt(field.unwrap(), path);
  const [key, ...rest] = path;
  if (key === undefined) return field;
  if (field instanceof ZodArray) return fieldAt(field.element, rest);
  if (field instanceof ZodRecord) return fieldAt(field.valueType, rest);
  if (!(field instanceof ZodObject) || !Object.hasOwn(field.shape, key)) return undefined;
  return fieldAt(field.shape[key as string] as z.core.$ZodType, rest);
}

/** A schema that takes anything for some of its properties. */
function withoutChecks(schema: z.ZodObject, unchecked: readonly string[]): z.ZodObject {
  if (unchecked.length === 0) return schema;
  const open = Object.fromEntries(unchecked.map((name) => [name, anything().optional()]));
  return object({ ...schema.shape, ...open });
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
  const isOwn = (name: string): boolean => Object.hasOwn(shape, name);
  // A secret that is null was not found, which is not the wish for a generated one.
  const read = entries.filter(
    ([name, part]) => part !== null || !isOwn(name) || isSecret(shape[name] as z.core.$ZodType),
  );
  return Object.fromEntries(
    read.map(([name, part]) => [name, isOwn(name) ? withoutNull(shape[name] as z.core.$ZodType, part) : part]),
  );
}

/** An option that is given as undefined is not given. */
function withoutUndefined(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** A path as a program would write it: `forwards[0].exchange`, `config["log.console.level"]`. */
function shownPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    const name = shownName(String(key));
    if (name === key) return text === "" ? name : `${text}.${name}`;
    return `${text}[${JSON.stringify(OWN_NAME.test(String(key)) ? key : name)}]`;
  }, "");
}

/** Names that a writer may give, as that of a setting; any other may be a value that slipped. */
const OWN_NAME = /^[A-Za-z][\w./-]{0,100}$/;
