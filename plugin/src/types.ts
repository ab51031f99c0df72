import { PackageSchema, ResourceSpec } from "./packageSchema";

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

/** Renames outputs that C# can't have: no property of a class has the name of its class there. */
export function withCsharpNames({ resources = {}, ...others }: PackageSchema): PackageSchema {
  const renamed = Object.entries(resources).map(([token, resource]): [string, ResourceSpec] => {
    const properties = Object.entries(resource.properties ?? {}).map(([name, property]) => {
      const isOfClass = `${name[0]?.toUpperCase()}${name.slice(1)}` === token.split(":").at(-1);
      return [name, isOfClass ? { ...property, language: { csharp: { name: "Descriptor" } } } : property];
    });
    return [token, { ...resource, properties: Object.fromEntries(properties) }];
  });
  return { ...others, resources: Object.fromEntries(renamed) };
}
