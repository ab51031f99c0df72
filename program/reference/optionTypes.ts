import type { z } from "zod";
import { GeneratedOptions, generatedOptions } from "@rabbitmq-delay/topology/schemas";
import { OptionField, definitionOf, fieldsOf } from "./optionField";

/** Whether a type is of options as a person writes them, or of options with all defaults. */
type Side = "options" | "settings";

/** Returns the interfaces of all options as TypeScript, so that published declarations need no zod. */
export function optionTypes(): string {
  const all = generatedOptions();
  const interfaces = all.flatMap((generated) => [
    ...interfaceOf(generated, "options", `Options of ${generated.subject}.`, all),
    ...interfaceOf(generated, "settings", settingsComment(generated), all),
  ]);
  return ["// Written by `make reference` from the zod schemas; edit those.", ...interfaces, ""].join("\n\n");
}

function settingsComment({ subject, options }: GeneratedOptions): string {
  return options === undefined ? `Properties of ${subject}.` : `{@link ${options}} with all defaults.`;
}

function interfaceOf(generated: GeneratedOptions, side: Side, comment: string, all: GeneratedOptions[]): string[] {
  const name = generated[side];
  if (name === undefined) return [];
  const schema = generated.schema as z.ZodObject;
  return [`/** ${comment} */\nexport interface ${name} ${bodyOf(schema, side, all)}`];
}

function bodyOf(schema: z.ZodType, side: Side, all: GeneratedOptions[]): string {
  const lines = fieldsOf(schema).map(([name, part]) => {
    const mark = part.isOptional || (part.hasDefault && side === "options") ? "?" : "";
    return `${commentOf(part)}${name}${mark}: ${typeOf(part.field, side, all)};`;
  });
  return `{\n${lines.join("\n")}\n}`;
}

function commentOf({ description, hasDefault, usual }: OptionField): string {
  const lines = [
    ...(description === "" ? [] : [description]),
    ...(hasDefault ? [`@default ${JSON.stringify(usual)}`] : []),
  ];
  if (lines.length === 0) return "";
  const text = lines.map((line) => line.replaceAll("*/", "*\\/"));
  return text.length === 1 ? `/** ${text[0]} */\n` : `/**\n${text.map((line) => ` * ${line}`).join("\n")}\n */\n`;
}

/** Returns a field as a type. */
function typeOf(field: z.ZodType, side: Side, all: GeneratedOptions[]): string {
  const { type, element, valueType, options, entries, values } = definitionOf(field);
  const shared = all.find(({ schema }) => schema === field)?.[side];
  if (shared !== undefined) return shared;
  switch (type) {
    case "string":
    case "number":
    case "boolean":
    case "unknown":
      return type;
    case "never":
      return "undefined";
    case "enum":
      return Object.values(entries)
        .map((word) => JSON.stringify(word))
        .join(" | ");
    case "literal":
      return values.map((value) => JSON.stringify(value)).join(" | ");
    case "union":
      return options.map((option) => typeOf(option, side, all)).join(" | ");
    case "array":
      return `(${typeOf(element, side, all)})[]`;
    case "record":
      return `Record<string, ${typeOf(valueType, side, all)}>`;
    case "object":
      return bodyOf(field, side, all);
    default:
      throw new Error(`no type is known for a field of zod's type ${type}`);
  }
}
