import { stackConfigSchema } from "@rabbitmq-delay/topology/schemas";
import { emptiedParts } from "@rabbitmq-delay/topology/stack";
import { z } from "zod";
import { allowances } from "@rabbitmq-delay/broker";

/** A JSON Schema, as far as this project writes one. */
export interface JsonSchema {
  description?: string;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  not?: JsonSchema;
  additionalProperties?: JsonSchema | false;
  /** Whether it is a secret. */
  writeOnly?: boolean;
  [keyword: string]: unknown;
}

/** The schema of a stack's config as JSON Schema, by key. */
export function configProperties(): Record<string, JsonSchema> {
  const schema = z.toJSONSchema(stackConfigSchema() as z.ZodObject, { target: "draft-7", io: "input" }) as JsonSchema;
  return schema.properties as Record<string, JsonSchema>;
}

/** Parts that the engine itself writes into `Pulumi.STACK.yaml`. */
const ENGINE_KEYS = ["secretsprovider", "encryptedkey", "encryptionsalt", "environment"];

/** The JSON Schema of a file `Pulumi.STACK.yaml` of this project: editors complete it, and underline what nobody reads. */
export function editorSchema(project: string): JsonSchema {
  const properties = Object.entries(configProperties()).map(([key, schema]) => [
    `${project}:${key}`,
    inFile(key, schema),
  ]);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "A stack of rabbitmq-delay",
    type: "object",
    properties: {
      ...Object.fromEntries(ENGINE_KEYS.map((key) => [key, {}])),
      config: {
        type: "object",
        properties: Object.fromEntries(properties) as Record<string, JsonSchema>,
        // Other providers have keys of their own.
        patternProperties: { [`^(?!${project}:)`]: {} },
        additionalProperties: false,
      },
    },
  };
}

/** What may stand in the file: a secret is encrypted there, and `pulumi config set` writes texts. */
function inFile(key: string, given: JsonSchema): JsonSchema {
  const schema = withEncrypted(given);
  const { description } = schema;
  if (schema.type === "boolean") return { description, anyOf: [schema, { enum: ["true", "false"] }] };
  if (emptiedParts.includes(key)) return { description, anyOf: [schema, { type: "object", maxProperties: 0 }] };
  if (key === "allow") return { ...schema, items: { anyOf: [{ enum: [...allowances] }, { pattern: " with " }] } };
  return schema;
}

/** A schema in which each secret may be encrypted. */
function withEncrypted(schema: JsonSchema): JsonSchema {
  const { description, properties } = schema;
  if (schema.writeOnly === true) return { description, anyOf: [{ type: "string" }, ENCRYPTED] };
  if (properties === undefined) return schema;
  const parts = Object.entries(properties).map(([name, part]) => [name, withEncrypted(part)] as const);
  return { ...schema, properties: Object.fromEntries(parts) };
}

const ENCRYPTED: JsonSchema = {
  type: "object",
  properties: { secure: { type: "string" } },
  required: ["secure"],
  additionalProperties: false,
};
