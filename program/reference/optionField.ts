import type { z } from "zod";

/** A field of a schema, as the generators of types and readers see it. */
export interface OptionField {
  /** The field without `optional` and `default`. */
  field: z.ZodType;
  isOptional: boolean;
  hasDefault: boolean;
  /** The default, if there is one. */
  usual?: unknown;
  description: string;
}

/** Rule of the project that a field is checked by. */
export type Rule = (...given: unknown[]) => unknown;

/** Words of a field's refusal, with the rule if they come from a rule. */
export type FieldError = ((issue: { code: string; input: unknown }) => string | undefined) & { rule?: Rule };

/** Check of a field. */
export interface FieldCheck {
  check: string;
  value?: number;
  minimum?: number;
  maximum?: number;
  error?: FieldError;
}

/** Definition of a field, as zod keeps it. */
interface Definition {
  type: string;
  innerType: z.ZodType;
  defaultValue: unknown;
  element: z.ZodType;
  valueType: z.ZodType;
  options: z.ZodType[];
  entries: Record<string, string>;
  values: number[];
  checks?: { _zod: { def: FieldCheck } }[];
  error?: FieldError;
}

/** Returns the definition of a field. */
export function definitionOf(field: z.ZodType): Definition {
  return field._zod.def as unknown as Definition;
}

/** Returns the fields of an object by name. */
export function fieldsOf(schema: z.ZodType): [string, OptionField][] {
  return Object.entries((schema as z.ZodObject).shape).map(([name, field]) => [name, optionField(field as z.ZodType)]);
}

function optionField(field: z.ZodType): OptionField {
  const { type, innerType, defaultValue } = definitionOf(field);
  if (type !== "optional" && type !== "default")
    return { field, isOptional: false, hasDefault: false, description: field.description ?? "" };
  const inner = optionField(innerType);
  const description = field.description ?? inner.description;
  return type === "optional"
    ? { ...inner, isOptional: true, description }
    : { ...inner, hasDefault: true, usual: defaultValue, description };
}
