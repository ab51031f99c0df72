import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deadLinks, pageText, picturesOf, sitePages } from "./pages";

// Writes the pages as VitePress takes them; a dead link ends it.
const [root, folder] = [process.cwd(), process.argv[2] as string];
const pages = sitePages(root);
const dead = deadLinks(root, [...pages.keys(), "README.md"]);
for (const line of dead) console.error(line);
if (dead.length > 0) process.exit(1);
rmSync(folder, { recursive: true, force: true });
for (const [page, place] of pages) {
  const path = join(folder, place);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, pageText(root, page, pages));
}
for (const picture of picturesOf(root)) copyFileSync(join(root, picture), join(folder, picture.replace(/^docs\//, "")));
