import type { z } from "zod";
import { zod } from "./zod";

/** Marks a field as a secret, in JSON Schema's own word for what is given and never shown. */
export function secret<T extends z.ZodType>(field: T): T {
  return field.meta({ writeOnly: true });
}

/** Whether a field is a secret, or may be one or left out. */
export function isSecret(field: z.core.$ZodType): boolean {
  const { ZodOptional, globalRegistry } = zod();
  if (globalRegistry.get(field)?.writeOnly === true) return true;
  return field instanceof ZodOptional && isSecret(field.unwrap());
}

/** Options without those that are secrets, at any depth, for whoever needs none and so reads none. */
export function withoutSecrets(schema: z.ZodObject, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(given).filter(([name]) => {
    const field = Object.hasOwn(schema.shape, name) ? (schema.shape[name] as z.core.$ZodType) : undefined;
    return field === undefined || !isSecret(field);
  });
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutSecretsIn(schema.shape[name], value)]));
}

function withoutSecretsIn(field: z.core.$ZodType | undefined, value: unknown): unknown {
  const { ZodObject, ZodOptional } = zod();
  if (field instanceof ZodOptional) return withoutSecretsIn(field.unwrap(), value);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return field instanceof ZodObject && isObject ? withoutSecrets(field, value as Record<string, unknown>) : value;
}
