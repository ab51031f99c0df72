import { emptiedParts } from "@rabbitmq-delay/topology/stack";
import { JsonSchema, configProperties } from "./editorSchema";

/** The reference of a stack's config as a page: a table of its keys, and one for each key that has properties of its own. */
export function configTables(): string {
  const properties = configProperties();
  const parts = Object.entries(properties).flatMap(([key, schema]) => partsOf(key, schema));
  return [
    "# Config of a stack",
    "This page is written by `make reference` from the schema that the program reads its config by. Each key stands in `Pulumi.STACK.yaml` behind " +
      "the project's name (`rabbitmq-delay:network`). A key or property that nobody reads is refused, and the nearest known one is named. " +
      `An empty object is the same as none for ${listed(emptiedParts)}: so a stack takes back what the project's own config gives.`,
    tableOf({ properties }),
    ...parts,
    "",
  ].join("\n\n");
}

function listed(keys: readonly string[]): string {
  const names = keys.map((key) => `\`${key}\``);
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** A heading with a table for an object or a list of objects, and for those in it. */
function partsOf(place: string, schema: JsonSchema): string[] {
  const list = schema.type === "array";
  const item = list ? (schema.items as JsonSchema) : schema;
  const properties = Object.entries(item.properties ?? {});
  if (properties.length === 0) return [];
  const name = list ? `${place}[]` : place;
  const nested = properties.flatMap(([key, property]) => partsOf(`${name}.${key}`, property));
  return [`## \`${name}\``, tableOf(item), ...nested];
}

function tableOf({ properties = {}, required = [] }: JsonSchema): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const isNeeded = required.includes(name);
    return `| \`${name}\`${isNeeded ? " (needed)" : ""} | ${typeOf(schema)} | ${describe(schema)} |`;
  });
  return ["| property | value | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

/** The meaning, with the default where the schema has one. */
function describe({ description = "", default: usual }: JsonSchema): string {
  const text = description.replaceAll("|", "\\|");
  const shown = typeof usual === "string" ? usual : JSON.stringify(usual);
  return usual === undefined ? text : `${text} Default \`${shown}\`.`;
}

function typeOf(schema: JsonSchema): string {
  const { type, enum: words, items, minimum, maximum, not, writeOnly, additionalProperties: others } = schema;
  if (not !== undefined) return "none";
  if (words !== undefined) return words.map((word) => `\`${String(word)}\``).join(", ");
  if (type === "array") return `list of ${items?.type === "object" ? "objects" : typeOf(items ?? {})}`;
  if (type === "integer") return `whole number from ${minimum} to ${maximum}`;
  if (type === "number" && minimum !== undefined) return `number from ${minimum} to ${maximum}`;
  if (writeOnly === true) return "secret text";
  if (type === "object" && others !== undefined && others !== false && others.type === "string") return "texts by name";
  if (Array.isArray(type)) return type.map((one) => typeOf({ type: one })).join(" or ");
  const names: Record<string, string> = {
    boolean: "true or false",
    string: "text",
    number: "number",
    object: "object",
  };
  return names[String(type)] ?? "any";
}
