import { DelayTopologyError } from "./errors";

/**
 * Looks at the head of a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version
 */
export function checkHead<T extends { kind: string; version: 1 }>(
  value: unknown,
  kind: T["kind"],
  property: string,
): Partial<T> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new DelayTopologyError(property, value, `it must be a descriptor (an object with kind: ${kind})`);
  }
  const descriptor = value as Partial<T>;
  if (descriptor.kind !== kind)
    throw new DelayTopologyError(`${property}.kind`, descriptor.kind, `it must be "${kind}"`);
  if (descriptor.version !== 1) {
    throw new DelayTopologyError(`${property}.version`, descriptor.version, "this release reads version 1");
  }
  return descriptor;
}
