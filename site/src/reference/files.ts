import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { commandPage } from "./commandPage";
import { componentsPage } from "./componentPages";
import { componentsSchema } from "./componentSchema";
import { packagesPage } from "./packagesPage";

/**
 * The pages that follow from the code: components, packages and the command.
 * @param root folder of the project, compiled
 * @returns their texts by path
 */
export async function referencePages(root: string): Promise<Map<string, string>> {
  const texts = {
    "docs/reference/components.md": componentsPage(componentsSchema(root)),
    "docs/reference/packages.md": packagesPage(root),
    "docs/reference/command.md": commandPage(),
  };
  const formatted = Object.entries(texts).map(async ([name, text]) => {
    const path = join(root, name);
    return [path, await format(text, { ...(await resolveConfig(path)), filepath: path })] as const;
  });
  return new Map(await Promise.all(formatted));
}
