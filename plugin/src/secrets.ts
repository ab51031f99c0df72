import { ObjectSpec, PackageSchema, PropertySpec, ResourceSpec } from "./packageSchema";

/** Names of properties that the components keep as secrets. */
const NAMES = ["password", "passwords", "erlangCookie"];

/**
 * Marks secret arguments, which can't be inferred, so SDKs encrypt them on their way. A plain value can't be a secret. Outputs need no mark,
 * because the components return them as secrets. C# has no such option for components, so its generated code would not compile.
 */
export function withSecrets({ types = {}, resources = {}, ...others }: PackageSchema): PackageSchema {
  return {
    ...others,
    types: mapValues(types, (type: ObjectSpec) => ({ ...type, ...marked("properties", type.properties) })),
    resources: mapValues(resources, (resource: ResourceSpec) => ({
      ...resource,
      ...marked("inputProperties", resource.inputProperties),
    })),
  };
}

function marked(key: string, properties: Record<string, PropertySpec> | undefined): object {
  if (properties === undefined) return {};
  const entries = Object.entries(properties).map(([name, property]): [string, PropertySpec] => {
    const isSecret = NAMES.includes(name) && property.plain !== true;
    return [name, isSecret ? { ...property, secret: true } : property];
  });
  return { [key]: Object.fromEntries(entries) };
}

function mapValues<T>(given: Record<string, T>, change: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, change(value)]));
}
