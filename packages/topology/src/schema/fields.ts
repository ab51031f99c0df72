import type { z } from "zod";
import { DelayTopologyError, checkInteger, checkOneOf, knownProperties } from "../errors";
import { secret } from "./secret";
import { zod } from "./zod";
import { PATH_RULE, isPath } from "../shownPath";

/** Checks a value and throws a DelayTopologyError; `property` is what the error calls it. */
type Check = (property: string, value: unknown) => unknown;

/** A text that a rule of this package checks, as the name of a queue. */
export function textBy(check: Check): z.ZodString {
  return zod()
    .string({ error: (issue) => withQuotes(refusalBy(check)(issue), issue.input) })
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

/** What is allowed where a text belongs: a number in its place, as YAML reads `2024`, is one in quotes. */
function withQuotes(allowed: string | undefined, given: unknown): string | undefined {
  return typeof given === "number" ? `${allowed}; put quotes around it, so that it is a text` : allowed;
}

/** A secret that a rule of this package checks; no message shows it, and null is a secret that was not found. */
export function secretBy(check: Check): z.ZodString {
  const refusal = refusalBy(check);
  const error = (issue: { input?: unknown }): string | undefined =>
    issue.input === null ? "it must be a secret, or left out for a generated one" : refusal(issue);
  return secret(zod().string({ error }).check(by(check)));
}

/** A list that a rule of this package checks as a whole. */
export function listBy<T extends z.ZodType>(item: T, check: Check): z.ZodArray<T> {
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

/** What a rule says of a value, as the end of a sentence. */
export function refusalBy(check: Check): (issue: { input?: unknown }) => string | undefined {
  return ({ input }) => {
    try {
      check("", input);
      return undefined;
    } catch (error) {
      return (error as DelayTopologyError).allowed;
    }
  };
}

/** A rule of this package as a check of zod's: its error's property, e.g. `[2]`, says which part of the value it is about. */
function by(check: Check): z.core.CheckFn<unknown> {
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
