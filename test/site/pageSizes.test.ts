import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sitePages } from "../../site/src/pages";
import { LIMITS, sidebar } from "../../site/src/structure";
import { root } from "../../toolchain/dist/paths";

/** Longest page that a newcomer reads from beginning to end, in lines. */
const LONGEST_PAGE = 150;
/** Parts of the sidebar that a newcomer passes by: pages to look things up in. */
const LOOKED_UP = [LIMITS, "Reference"];

/**
 * Longest line of code that the site shows whole in a window of 1,400 pixels, in characters. VitePress' content column is 688 pixels wide
 * there, less 24 on each side of a block. A character of Menlo in 14 pixels takes 8.43.
 */
const WIDEST_LINE = 75;
/** Pages with wider lines, and the reason. */
const WIDER: Record<string, string> = {
  "docs/architecture.md": "a picture of the rooms, whose lines a test reads",
  "docs/key.md": "a rule in twelve lines, which a test counts",
  "docs/languages.md": "commands and comments on one line each",
  "docs/stack-in-csharp.md": "long names of classes, each twice in a statement",
  "docs/reference/components.md": "generated; its examples stand in editors, too",
  "docs/reference/command.md": "generated examples, each a command to copy whole",
  "CONTRIBUTING.md": "read on GitHub, by those who have the checkout",
};

const linesOf = (page: string): string[] => readFileSync(join(root, page), "utf8").trimEnd().split("\n");
const pages = [...sitePages(root).keys()].filter((page) => !page.startsWith("clients/"));

/** The lines of code of a page that are wider than allowed. */
function wideLines(page: string): string[] {
  const wide: string[] = [];
  let language: string | undefined;
  linesOf(page).forEach((line, index) => {
    const [, fence] = /^\s*```(\w*)/.exec(line) ?? [];
    if (fence !== undefined) language = language === undefined ? fence : undefined;
    else if (language !== undefined && language !== "mermaid" && line.length > WIDEST_LINE)
      wide.push(`${page}:${index + 1}: ${line.length} characters`);
  });
  return wide;
}

// Pages of up to 458 lines hid the first steps among edge cases, and their code ran out of the window.
describe("the pages for newcomers", () => {
  it(`have at most ${LONGEST_PAGE} lines; limits and edge cases have pages of their own`, () => {
    const path = sidebar
      .filter(({ text }) => !LOOKED_UP.includes(text))
      .flatMap(({ items }) => items.map(({ page }) => page))
      .filter((page) => page.startsWith("docs/") && !page.includes("#"));
    assert.ok(path.length > 25, path.join());
    const long = path.map((page) => [page, linesOf(page).length] as const).filter(([, count]) => count > LONGEST_PAGE);
    assert.deepEqual(long, []);
  });

  it(`have no line of code with more than ${WIDEST_LINE} characters, which the site would cut off`, () => {
    const narrow = pages.filter((page) => WIDER[page] === undefined);
    assert.ok(narrow.length > 40, narrow.join());
    assert.deepEqual(narrow.flatMap(wideLines), []);
  });

  it("are wider where a reason is given, and only there", () => {
    const needless = Object.keys(WIDER).filter((page) => wideLines(page).length === 0);
    assert.deepEqual(needless, []);
  });
});
