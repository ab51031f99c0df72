import { PackageSchema, PropertySpec, ResourceSpec, TypeSpec } from "./packageSchema";

/**
 * Numbers that are no 32-bit integers: milliseconds go up to ten years, and a part of the memory is a fraction. Lists of numbers hold
 * milliseconds.
 */
const NO_INTEGERS = /Ms$|^memoryWatermark$|^items$/;

/**
 * Gives types their names and numbers for other languages. Generators append `Args` to the types of arguments, so a type's own name has no
 * such ending. TypeScript has one type for all numbers, so inference finds no integers.
 */
export function withTypes(schema: PackageSchema): PackageSchema {
  const renamed = JSON.stringify(schema).replace(/(:index:\w+?)Args"/g, '$1"');
  return JSON.parse(renamed, (name, value: { type?: unknown } | null) =>
    value?.type === "number" && !NO_INTEGERS.test(name) ? { ...value, type: "integer" } : value,
  ) as PackageSchema;
}

/** Lets each argument that takes a descriptor take its JSON text as well, which inference leaves out of a union. */
export function withDescriptorTexts(schema: PackageSchema): PackageSchema {
  return mapProperties(schema, "inputProperties", (property) => {
    if (property.items !== undefined) return { ...property, items: orText(property.items) };
    return orText(property);
  });
}

function orText<T extends TypeSpec>(property: T): T {
  const { $ref, ...others } = property;
  if ($ref === undefined || !$ref.endsWith("Descriptor")) return property;
  return { oneOf: [{ $ref }, { type: "string" }], ...others } as T;
}

/** Renames outputs that C# can't have: no property of a class has the name of its class there. */
export function withCsharpNames(schema: PackageSchema): PackageSchema {
  return mapProperties(schema, "properties", (property, name, token) => {
    const isOfClass = `${name[0]?.toUpperCase()}${name.slice(1)}` === token.split(":").at(-1);
    return isOfClass ? { ...property, language: { csharp: { name: "Descriptor" } } } : property;
  });
}

function mapProperties(
  { resources = {}, ...others }: PackageSchema,
  side: "inputProperties" | "properties",
  change: (property: PropertySpec, name: string, token: string) => PropertySpec,
): PackageSchema {
  const changed = Object.entries(resources).map(([token, resource]): [string, ResourceSpec] => {
    const properties = Object.entries(resource[side] ?? {}).map(([name, property]) => [
      name,
      change(property, name, token),
    ]);
    return [token, { ...resource, [side]: Object.fromEntries(properties) }];
  });
  return { ...others, resources: Object.fromEntries(changed) };
}
