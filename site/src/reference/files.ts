import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { commandPage } from "./commandPage";
import { componentsPage } from "./componentPages";
import { componentsSchema } from "./componentSchema";
import { packagesPage, publishedNames } from "./packagesPage";

/**
 * The pages that follow from the code: components, packages and the command.
 * @param root folder of the project, compiled
 * @returns their texts by path
 */
export async function referencePages(root: string): Promise<Map<string, string>> {
  const packages = publishedNames(root);
  const examples = new Map(
    packages.flatMap(({ exported }) => exported.map(({ name, examples: [example = ""] }) => [name, example] as const)),
  );
  const texts = {
    "docs/reference/components.md": componentsPage(componentsSchema(root), examples),
    "docs/reference/packages.md": packagesPage(packages),
    "docs/reference/command.md": commandPage(),
  };
  const formatted = Object.entries(texts).map(async ([name, text]) => {
    const path = join(root, name);
    return [path, await format(text, { ...(await resolveConfig(path)), filepath: path })] as const;
  });
  return new Map(await Promise.all(formatted));
}
