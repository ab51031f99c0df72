import { join } from "node:path";
import { PackageSchema } from "./packageSchema";

/** The schema that the provider serves and the SDKs are generated from; committed. */
export const schemaFile = join(__dirname, "..", "schema.json");

/** A schema as the file has it. */
export function schemaText(schema: PackageSchema): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}
