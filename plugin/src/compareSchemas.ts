import { isDeepStrictEqual } from "node:util";
import { ObjectSpec, PackageSchema, PropertySpec, TypeSpec } from "./packageSchema";

type Properties = Record<string, PropertySpec>;

/**
 * What a program that uses one version of the package has to change for another one.
 * @returns a line for each breaking change; none when programs stay as they are
 */
export function breakingChanges(old: PackageSchema, now: PackageSchema): string[] {
  return [
    ...(old.name === now.name ? [] : [`the package ${old.name} is called ${now.name} now`]),
    ...removed(old.resources ?? {}, now.resources ?? {}, sameResource).map((text) => `component ${text}`),
    ...removed(old.types ?? {}, now.types ?? {}, sameType).map((text) => `type ${text}`),
    ...both(old.resources, now.resources).flatMap(([name, before, after]) => [
      ...changesOfProperties(`${name}: input`, before.inputProperties, after.inputProperties),
      ...newly(before.requiredInputs, after.requiredInputs).map((key) => `${name}: input ${key} is required now`),
      ...changesOfProperties(`${name}: output`, before.properties, after.properties),
      ...newly(after.required, before.required)
        .filter((key) => after.properties?.[key] !== undefined)
        .map((key) => `${name}: output ${key} may be missing now`),
    ]),
    ...changesOfTypes(old, now),
  ];
}

function changesOfTypes(old: PackageSchema, now: PackageSchema): string[] {
  const [taken, given] = [reached(now, "inputProperties"), reached(now, "properties")];
  return both(old.types, now.types).flatMap(([name, before, after, token]) => [
    ...(before.type === after.type ? [] : [`${name}: was ${before.type}, is ${after.type}`]),
    ...(before.enum ?? [])
      .filter(({ value }) => !after.enum?.some((other) => other.value === value))
      .map(({ value }) => `${name}: value ${JSON.stringify(value)} was removed`),
    ...changesOfProperties(`${name}: property`, before.properties, after.properties),
    ...(taken.has(token)
      ? newly(before.required, after.required).map((key) => `${name}: property ${key} is required now`)
      : []),
    ...(given.has(token)
      ? newly(after.required, before.required)
          .filter((key) => after.properties?.[key] !== undefined)
          .map((key) => `${name}: property ${key} may be missing now`)
      : []),
  ]);
}

function changesOfProperties(what: string, before: Properties = {}, after: Properties = {}): string[] {
  return [
    ...removed(before, after, (one, other) => isDeepStrictEqual(one, other)).map((text) => `${what} ${text}`),
    ...Object.keys(before)
      .filter((key) => after[key] !== undefined && !sameTypes(before[key] as TypeSpec, after[key] as TypeSpec))
      .map((key) => `${what} ${key} was ${words(before[key] as TypeSpec)}, is ${words(after[key] as TypeSpec)}`),
  ];
}

/** What has gone, and its new name where exactly one new thing is like it. */
function removed<T>(
  before: Record<string, T>,
  after: Record<string, T>,
  alike: (one: T, other: T) => boolean,
): string[] {
  const added = Object.entries(after).filter(([key]) => before[key] === undefined);
  return Object.entries(before)
    .filter(([key]) => after[key] === undefined)
    .map(([key, value]) => {
      const candidates = added.filter(([, other]) => alike(value, other));
      const [name] = candidates[0] ?? [];
      return candidates.length === 1 && name !== undefined
        ? `${short(key)} was renamed to ${short(name)}`
        : `${short(key)} was removed`;
    });
}

const sameResource = (one: ObjectSpec, other: ObjectSpec): boolean =>
  isDeepStrictEqual({ ...one, description: "" }, { ...other, description: "" });

const sameType = (one: ObjectSpec, other: ObjectSpec): boolean =>
  isDeepStrictEqual(one.properties, other.properties) && isDeepStrictEqual(one.enum, other.enum);

function sameTypes(one: TypeSpec, other: TypeSpec): boolean {
  return isDeepStrictEqual(typeOf(one), typeOf(other));
}

/** Only what makes the type: descriptions may change. */
function typeOf({ type, $ref, plain = false, items, additionalProperties, oneOf }: TypeSpec): unknown {
  return {
    type,
    $ref,
    plain,
    items: items && typeOf(items),
    values: additionalProperties && typeOf(additionalProperties),
    oneOf: oneOf?.map(typeOf),
  };
}

function words({ type, $ref, plain, items, additionalProperties, oneOf }: TypeSpec): string {
  const inner = oneOf ?? [];
  const name =
    $ref !== undefined
      ? short($ref)
      : inner.length > 0
        ? inner.map(words).join(" or ")
        : `${type}${items === undefined ? "" : ` of ${words(items)}`}${additionalProperties === undefined ? "" : ` of ${words(additionalProperties)}`}`;
  return plain === true ? `plain ${name}` : name;
}

/** The types that are part of what components take (`inputProperties`) or give (`properties`). */
function reached({ resources = {}, types = {} }: PackageSchema, side: "inputProperties" | "properties"): Set<string> {
  const found = new Set<string>();
  const visit = ({ $ref, items, additionalProperties, oneOf = [] }: TypeSpec): void => {
    for (const inner of [items, additionalProperties, ...oneOf]) if (inner !== undefined) visit(inner);
    const token = $ref?.startsWith("#/types/") ? $ref.slice("#/types/".length) : undefined;
    if (token === undefined || found.has(token)) return;
    found.add(token);
    Object.values(types[token]?.properties ?? {}).forEach(visit);
  };
  for (const resource of Object.values(resources)) Object.values(resource[side] ?? {}).forEach(visit);
  return found;
}

function both<T>(old: Record<string, T> = {}, now: Record<string, T> = {}): [string, T, T, string][] {
  return Object.entries(old).flatMap(([token, before]) => {
    const after = now[token];
    return after === undefined ? [] : [[short(token), before, after, token]];
  });
}

function newly(before: string[] = [], after: string[] = []): string[] {
  return after.filter((key) => !before.includes(key));
}

/** The name without the package's: `rabbitmq-delay:index:Removal` is `Removal`. */
function short(token: string): string {
  return token.split(/[:/]/).at(-1) as string;
}
