import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { configTables } from "./configTables";
import { editorSchema } from "./editorSchema";

/** The project whose stacks the schema is of; as in Pulumi.yaml. */
const PROJECT = "rabbitmq-delay";

/**
 * The files that follow from the schema of a stack's config.
 * @param root folder of the project
 * @returns their texts by path
 */
export async function referenceFiles(root: string): Promise<Map<string, string>> {
  const texts = { "schemas/stack.json": JSON.stringify(editorSchema(PROJECT)), "docs/config.md": configTables() };
  const formatted = Object.entries(texts).map(async ([name, text]) => {
    const path = join(root, name);
    return [path, await format(text, { ...(await resolveConfig(path)), filepath: path })] as const;
  });
  return new Map(await Promise.all(formatted));
}
