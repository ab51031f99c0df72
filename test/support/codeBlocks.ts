import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";

/** The code blocks of a page in one language, as it shows them. @param page from the project's folder, e.g. `docs/holds.md` */
export function codeBlocks(page: string, language: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  return blocks.filter(([, its]) => its === language).map(([, , code = ""]) => code);
}
