import { ObjectSpec, PackageSchema, PropertySpec, ResourceSpec } from "./packageSchema";

/** What the components keep as secrets, by the names of properties. */
const NAMES = ["password", "passwords", "erlangCookie"];

/** Marks what is secret, which can't be inferred: SDKs then encrypt it on its way. A plain value can't be a secret. */
export function withSecrets({ types = {}, resources = {}, ...others }: PackageSchema): PackageSchema {
  return {
    ...others,
    types: mapValues(types, (type: ObjectSpec) => ({ ...type, ...marked("properties", type.properties) })),
    resources: mapValues(resources, (resource: ResourceSpec) => ({
      ...resource,
      ...marked("inputProperties", resource.inputProperties),
      ...marked("properties", resource.properties),
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
