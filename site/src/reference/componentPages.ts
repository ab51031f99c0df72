import type { ComponentSchema, ComponentsSchema, PropertySchema, TypeSchema } from "./componentSchema";
import { inCell, tableOf } from "./markdown";

/**
 * Writes the page of the components with their arguments and outputs, and the types of these.
 * @param examples each component's example by its name, as Markdown
 */
export function componentsPage(
  { components, typeDefinitions }: ComponentsSchema,
  examples: ReadonlyMap<string, string>,
): string {
  const types = Object.values(typeDefinitions).sort(({ name: one }, { name: other }) => one.localeCompare(other));
  return [
    "# Components and their arguments",
    "This page is written by `make reference` from the doc comments of the components. TypeScript takes them from `pulumi-rabbitmq-delay`; " +
      "[other languages](../languages.md) take them from the provider, under the same names.",
    "An argument without “needed” may be left out. One that is marked † has to be known in a preview, so it can't be an output of a resource " +
      "that is not there yet. The last argument of every component is Pulumi's own resource options, with the provider of the broker.",
    "[Pulumi's plugin `random`](../environments.md#a-user-for-each-service) generates each password that an example leaves out.",
    ...Object.values(components).flatMap((component) => componentParts(component, examples.get(component.name))),
    "## Types of arguments and outputs",
    ...types.flatMap(typeParts),
    "",
  ].join("\n\n");
}

function componentParts({ name, description = "", inputs, outputs }: ComponentSchema, example = ""): string[] {
  const rows = Object.entries(inputs).map(([key, property]) => [
    `\`${key}\`${property.plain === true ? " †" : ""}${property.optional === true ? "" : " (needed)"}`,
    typeOf(property),
    inCell(property.description ?? ""),
  ]);
  return [
    `## ${name}`,
    paragraph(description),
    ...(example === "" ? [] : [example]),
    tableOf(["argument", "type", "meaning"], rows),
    ...(Object.keys(outputs).length > 0 ? [tableOf(["output", "type", "meaning"], rowsOf(outputs))] : []),
  ];
}

function typeParts({ name, description, properties, enum: words }: TypeSchema): string[] {
  const body =
    words === undefined
      ? tableOf(["property", "type", "meaning"], rowsOf(properties ?? {}))
      : `One of ${words.map(({ value }) => `\`${value}\``).join(", ")}.`;
  return [`### ${name}`, ...(description === undefined ? [] : [paragraph(description)]), body];
}

function rowsOf(properties: Record<string, PropertySchema>): string[][] {
  return Object.entries(properties).map(([key, property]) => [
    `\`${key}\``,
    typeOf(property),
    inCell(property.description ?? ""),
  ]);
}

function typeOf({ type, $ref, items, additionalProperties }: PropertySchema): string {
  if (type === "array") return `list of ${typeOf(items ?? {})}`;
  if (type === "object") return `map to ${typeOf(additionalProperties ?? {})}`;
  const name = /^#\/types\/rabbitmq-delay:index:(\w+)$/.exec($ref ?? "")?.[1];
  if (name !== undefined) return `[${name}](#${name.toLowerCase()})`;
  return { string: "text", number: "number", boolean: "true or false", any: "any" }[type ?? "any"];
}

function paragraph(text: string): string {
  return text
    .split(/\n\s*\n/)
    .map((part) => inCell(part).replaceAll("\\|", "|"))
    .join("\n\n");
}
