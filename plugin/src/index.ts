import { readFileSync } from "node:fs";
import { main } from "@pulumi/pulumi/provider";
import { servedComponents } from "./components";
import { PackageSchema } from "./packageSchema";
import { SchemaProvider } from "./provider";
import { schemaFile } from "./schemaFile";

// Serves the components to programs in other languages: this file is the main of the folder that `pulumi package add` runs.
const schema = JSON.parse(readFileSync(schemaFile, "utf8")) as PackageSchema;
void main(new SchemaProvider(schema, servedComponents()), process.argv.slice(2));
