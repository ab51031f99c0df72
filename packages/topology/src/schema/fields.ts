import type { z } from "zod";
import { checkInteger, checkOneOf, DelayTopologyError, knownProperties } from "../errors";
import { refusalOf, Rule, withQuotes } from "../optionReading";
import { isPath, PATH_RULE } from "../shownPath";
import { secret } from "./secret";
import { zod } from "./zod";

/** A text that a rule of this package checks, as the name of a queue. */
export function textBy(check: Rule): z.ZodString {
  const error = ({ input }: Issue): string => withQuotes(refusalOf(check, input) ?? "it must be a text", input);
  return zod()
    .string({ error: ruledBy(check, error) })
    .check(by(check));
}

/** A text that is not empty. */
export function text(): z.ZodString {
  const error = "it must be a non-empty text";
  return anyText(error).min(1, { error });
}

/** The path of a file. */
export function filePath(): z.ZodString {
  return text().refine(isPath, { error: PATH_RULE });
}

/** A text of a form; `allowed` ends the sentence of a refusal. */
export function textLike(form: RegExp, allowed: string): z.ZodString {
  return anyText(allowed).regex(form, { error: allowed });
}

/** Any text; `allowed` ends the sentence of a refusal. */
export function anyText(allowed = "it must be a text"): z.ZodString {
  return zod().string({ error: ({ input }) => withQuotes(allowed, input) });
}

/** A secret that a rule of this package checks; no message shows it, and null is a secret that was not found. */
export function secretBy(check: Rule): z.ZodString {
  const refusal = refusalBy(check);
  const error = (issue: Issue): string | undefined =>
    issue.input === null ? "it must be a secret, or left out for a generated one" : refusal(issue);
  return secret(zod().string({ error }).check(by(check)));
}

/** A list that a rule of this package checks as a whole. */
export function listBy<T extends z.ZodType>(item: T, check: Rule): z.ZodArray<T> {
  return zod()
    .array(item, { error: refusalBy(check) })
    .check(by(check));
}

/** A list of at least one item. */
export function listOf<T extends z.ZodType>(item: T, what: string): z.ZodArray<T> {
  const error = `it must be a list of at least one ${what}`;
  return zod().array(item, { error }).min(1, { error });
}

/** A whole number between two, which are allowed. */
export function wholeNumber(minimum: number, maximum: number): z.ZodInt {
  const error = refusalBy((property, value) => checkInteger(property, value, minimum, maximum));
  return zod().int({ error }).min(minimum, { error }).max(maximum, { error });
}

/** A number between two, which are allowed. */
export function numberBetween(minimum: number, maximum: number): z.ZodNumber {
  const error = `it must be a number from ${minimum} to ${maximum}`;
  return zod().number({ error }).min(minimum, { error }).max(maximum, { error });
}

/** One of a few words. */
export function oneOf<const T extends readonly string[]>(words: T): z.ZodEnum<{ [Word in T[number]]: Word }> {
  return zod().enum(words, { error: refusalBy((property, value) => checkOneOf(property, value, words)) });
}

/** One of a few numbers. */
export function oneNumberOf<const T extends readonly number[]>(numbers: T, allowed?: string): z.ZodLiteral<T[number]> {
  const error = allowed ?? refusalBy((property, value) => checkOneOf(property, value, numbers));
  return zod().literal([...numbers], { error });
}

/** True or false. */
export function flag(): z.ZodBoolean {
  return zod().boolean({ error: "it must be true or false" });
}

/** An object in which no other properties may stand. */
export function object<T extends z.core.$ZodLooseShape>(shape: T): z.ZodObject<T, z.core.$strict> {
  const known = Object.keys(shape);
  return zod().strictObject(shape, {
    error: ({ code }) =>
      code === "unrecognized_keys" ? knownProperties(known) : `it must be an object with some of ${known.join(", ")}`,
  });
}

/** An object whose properties have names of the writer's own, and values that are all of one kind. */
export function recordOf<T extends z.ZodType>(
  value: T,
  { name = zod().string(), what, names }: { name?: z.ZodString; what: string; names?: string },
): z.ZodRecord<z.ZodString, T> {
  return zod().record(name, value, {
    error: ({ code }) => (code === "invalid_key" ? names : `it must be an object with ${what} by each name`),
  });
}

/** Any value: what it is, whoever reads it checks. */
export function anything(): z.ZodUnknown {
  return zod().unknown();
}

/** Words of a refusal, from what a rule says of a value. */
export function refusalBy(check: Rule): RuledError {
  return ruledBy(check, ({ input }) => refusalOf(check, input));
}

/** An issue of zod's, of which refusals read the value. */
interface Issue {
  input?: unknown;
}

/** Words of a refusal that come from a rule, by which the generator of readers finds the rule. */
export type RuledError = ((issue: Issue) => string | undefined) & { rule: Rule };

function ruledBy(rule: Rule, error: (issue: Issue) => string | undefined): RuledError {
  return Object.assign((issue: Issue) => error(issue), { rule });
}

/** A rule of this package as a check of zod's: its error's property, e.g. `[2]`, says which part of the value it is about. */
function by(check: Rule): z.core.CheckFn<unknown> {
  return ({ value, issues }) => {
    try {
      check("", value);
    } catch (error) {
      if (!(error instanceof DelayTopologyError)) throw error;
      const path = [...error.property.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) =>
        index === undefined ? (name as string) : Number(index),
      );
      issues.push({ code: "custom", input: value, path, message: error.allowed });
    }
  };
}
