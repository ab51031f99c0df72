import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { configTables } from "./configTables";
import { editorSchema } from "./editorSchema";
import { optionReaders } from "./optionReaders";
import { optionTypes } from "./optionTypes";

/** The project whose stacks the schema is of; as in Pulumi.yaml. */
const PROJECT = "rabbitmq-delay";

/**
 * The files that follow from the schemas of options.
 * @param root folder of the project
 * @returns their texts by path
 */
export async function referenceFiles(root: string): Promise<Map<string, string>> {
  const topology = "packages/topology/src";
  const texts = {
    "schemas/stack.json": JSON.stringify(editorSchema(PROJECT)),
    "docs/config.md": configTables(),
    [`${topology}/options.generated.ts`]: optionTypes(),
    [`${topology}/readers.generated.ts`]: optionReaders(join(root, topology), false),
    [`${topology}/retryReaders.generated.ts`]: optionReaders(join(root, topology), true),
  };
  const formatted = Object.entries(texts).map(async ([name, text]) => {
    const path = join(root, name);
    return [path, await format(text, { ...(await resolveConfig(path)), filepath: path })] as const;
  });
  return new Map(await Promise.all(formatted));
}
