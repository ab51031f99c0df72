import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { GeneratedOptions, generatedOptions } from "@rabbitmq-delay/topology/schemas";
import { FieldCheck, FieldError, OptionField, Rule, definitionOf, fieldsOf } from "./optionField";

/**
 * Returns the readers of descriptors and their options as TypeScript: plain functions that answer as zod does, so that a service loads no zod.
 * @param source folder of the schemas' package, in which rules are looked up
 * @param isOfRetries whether the readers are those of retries, or the others
 */
export function optionReaders(source: string, isOfRetries: boolean): string {
  const generated = generatedOptions().filter(
    (one) => one.reader !== undefined && (one.isOfRetries ?? false) === isOfRetries,
  );
  const used = new Imports(source);
  const readers = generated.map((one) => readerOf(one, used));
  const types = generated.flatMap(({ options, settings }) => settings ?? options ?? []);
  return [
    "// Written by `make reference` from the zod schemas; edit those.",
    [`import type { ${types.join(", ")} } from "./options.generated";`, ...used.lines()].join("\n"),
    ...readers,
    "",
  ].join("\n\n");
}

/** The names that readers use, with their modules. */
class Imports {
  private readonly modules = new Map<string, Set<string>>();

  constructor(private readonly source: string) {}

  /** Returns the name of a function of the module that reads values. */
  reading(name: string): string {
    return this.from("./optionReading", name);
  }

  /** Returns the name of a rule. */
  rule(rule: Rule): string {
    const text = `export function ${rule.name}(`;
    const [file] = filesIn(this.source).filter((name) => readFileSync(join(this.source, name), "utf8").includes(text));
    if (file === undefined) throw new Error(`no module exports the rule ${rule.name}`);
    return this.from(`./${file.replace(/\.ts$/, "")}`, rule.name);
  }

  lines(): string[] {
    const sorted = [...this.modules].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([module, names]) => `import { ${[...names].sort().join(", ")} } from "${module}";`);
  }

  private from(module: string, name: string): string {
    this.modules.set(module, (this.modules.get(module) ?? new Set()).add(name));
    return name;
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
}

function readerOf({ schema, subject, options, settings, reader = "" }: GeneratedOptions, used: Imports): string {
  const names = `${reader.charAt(0).toLowerCase()}${reader.slice(1)}Names`;
  const field = schema as z.ZodObject;
  return `/** Names of the options of ${subject}. */
export const ${names} = ${namesOf(field)} satisfies ${used.reading("KnownNames")};

/** Reads the options of ${subject}. @throws DelayTopologyError */
export function read${reader}Options(given: unknown, what: string, source: ${used.reading("Source")} = ${used.reading("byHand")}): ${settings ?? options} {
  return ${used.reading("readObject")}(given, what, source, ${names}, (options) => (${bodyOf(field, "options", names, used)}));
}`;
}

function namesOf(schema: z.ZodType): string {
  const parts = fieldsOf(schema).map(([name, { field }]) => {
    const { type, element } = definitionOf(field);
    const isListOfObjects = type === "array" && definitionOf(element).type === "object";
    return `${name}: ${isListOfObjects ? `[${namesOf(element)}]` : type === "object" ? namesOf(field) : "true"}`;
  });
  return `{ ${parts.join(", ")} }`;
}

/** Returns the code that reads all properties; `owner` is the variable of their object. */
function bodyOf(schema: z.ZodType, owner: string, names: string, used: Imports): string {
  const parts = fieldsOf(schema).map(([name, part]) => `${name}: ${partOf(name, part, owner, names, used)}`);
  return `{\n${parts.join(",\n")}\n}`;
}

function partOf(
  name: string,
  { field, isOptional, hasDefault, usual }: OptionField,
  owner: string,
  names: string,
  used: Imports,
): string {
  const read = readOf(`${owner}.found("${name}")`, field, `${names}.${name}`, used);
  if (isOptional) return `${owner}.lacks("${name}") ? undefined : ${read}`;
  return hasDefault ? `${owner}.takesDefault("${name}") ? ${JSON.stringify(usual)} : ${read}` : read;
}

/** Returns the call that reads a value; `found` is the code of the value. */
function readOf(found: string, field: z.ZodType, names: string, used: Imports): string {
  const { type, element, entries, values, error } = definitionOf(field);
  const call = (name: string, ...given: string[]): string => `${used.reading(name)}(${[found, ...given].join(", ")})`;
  switch (type) {
    case "string":
      return textOf(field, call, used);
    case "number":
      return call("readWholeNumber", `${boundOf(field, "greater_than")}`, `${boundOf(field, "less_than")}`);
    case "enum":
      return call("readWord", JSON.stringify(Object.values(entries)));
    case "literal":
      return call("readNumberOf", JSON.stringify(values), wordsOf(error));
    case "boolean":
      return call("readFlag", wordsOf(error));
    case "union":
      return call("readNumberOrText", used.rule(ruleOf(error)));
    case "object":
      return `options.object(${found}, ${names}, (part) => (${bodyOf(field, "part", names, used)}))`;
    case "array": {
      const item = `(item) => ${readOf("item", element, `${names}[0]`, used)}`;
      const allowed = error?.rule === undefined ? wordsOf(error) : used.rule(error.rule);
      const least = boundOf(field, "min_length");
      const list = call("readList", allowed, item, ...(least === undefined ? [] : [`${least}`]));
      const most = checkOf(field, "max_length");
      if (most === undefined) return list;
      return call("atMost", list, `${most.maximum}`, wordsOf(most.error));
    }
    default:
      throw new Error(`no reader is known for a field of zod's type ${type}`);
  }
}

function textOf(field: z.ZodType, call: (name: string, ...given: string[]) => string, used: Imports): string {
  const { error, checks = [] } = definitionOf(field);
  if (error?.rule !== undefined) return call("readText", used.rule(error.rule));
  const isFilled = checkOf(field, "min_length")?.minimum === 1;
  if (checks.length !== (isFilled ? 1 : 0)) throw new Error("no reader is known for a text with these checks");
  return call(isFilled ? "readFilledText" : "readAnyText", wordsOf(error));
}

/** Returns the words of a refusal that says the same of every value. */
function wordsOf(error: FieldError | undefined): string {
  const words = error?.({ code: "invalid_type", input: undefined });
  if (words === undefined) throw new Error("a field has no words for its refusal");
  return JSON.stringify(words);
}

function ruleOf(error: FieldError | undefined): Rule {
  if (error?.rule === undefined) throw new Error("a field has no rule");
  return error.rule;
}

function checkOf(field: z.ZodType, check: string): FieldCheck | undefined {
  return definitionOf(field)
    .checks?.map(({ _zod }) => _zod.def)
    .find((one) => one.check === check);
}

/** Returns the bound that a check of a field sets. */
function boundOf(field: z.ZodType, check: string): number | undefined {
  const { value, minimum } = checkOf(field, check) ?? {};
  return value ?? minimum;
}
