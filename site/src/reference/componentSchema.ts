import { readFileSync } from "node:fs";
import { join } from "node:path";
import { componentKinds } from "@rabbitmq-delay/topology/stack";

/** One argument or output, as the schema for other languages has it. */
export interface PropertySchema {
  type?: "string" | "number" | "boolean" | "array" | "object";
  $ref?: string;
  items?: PropertySchema;
  additionalProperties?: PropertySchema;
  optional?: boolean;
  /** Whether it has to be known in a preview, and so may be no output of another resource. */
  plain?: boolean;
  description?: string;
}

/** An object or a set of words that arguments are of. */
export interface TypeSchema {
  name: string;
  description?: string;
  properties?: Record<string, PropertySchema>;
  enum?: { value: string | number }[];
}

/** A component with its arguments and outputs. */
export interface ComponentSchema {
  name: string;
  description?: string;
  inputs: Record<string, PropertySchema>;
  outputs: Record<string, PropertySchema>;
}

/** What other languages know of the components. */
export interface ComponentsSchema {
  components: Record<string, ComponentSchema>;
  typeDefinitions: Record<string, TypeSchema>;
}

interface AnalyzerModule {
  Analyzer: new (
    folder: string,
    name: string,
    packageJson: object,
    components: Set<string>,
  ) => { analyze(): ComponentsSchema };
}

/**
 * Reads the schema of the components from their sources, by the SDK's own inference, as the plugin does.
 * @param root folder of the project
 */
export function componentsSchema(root: string): ComponentsSchema {
  const folder = join(root, "components");
  const packageJson = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as object;
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- the SDK exports it without a typed path
  const { Analyzer } = require("@pulumi/pulumi/provider/experimental/analyzer") as AnalyzerModule;
  return new Analyzer(folder, "rabbitmq-delay", packageJson, new Set(Object.keys(componentKinds))).analyze();
}
