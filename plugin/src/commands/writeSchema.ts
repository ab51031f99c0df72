import { writeFileSync } from "node:fs";
import { inferSchema } from "../inferSchema";
import { schemaFile, schemaText } from "../schemaFile";

// Writes the schema anew; a test tells when it is stale.
void inferSchema().then((schema) => writeFileSync(schemaFile, schemaText(schema)));
