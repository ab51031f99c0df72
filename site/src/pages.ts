import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { posix } from "node:path";
import { anchorsOf, linksOf, mapLinks } from "./links";

/** Where files lie that are in the project and not on the site. */
export const REPOSITORY = "https://github.com/rabbitmq-delay/rabbitmq-delay";

/** Pages for Pulumi's registry, which are in its form. */
const FOR_REGISTRY = ["_index.md", "installation-configuration.md"];

/**
 * The pages of the site.
 * @param root folder of the project
 * @returns each page's path on the site by its path in the project
 */
export function sitePages(root: string): Map<string, string> {
  const docs = readdirSync(`${root}/docs`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !FOR_REGISTRY.includes(name))
    .sort();
  const clients = readdirSync(`${root}/clients`).filter((name) => existsSync(`${root}/clients/${name}/README.md`));
  return new Map([
    ["site/index.md", "index.md"],
    ...docs.map((name) => [`docs/${name}`, name] as const),
    ...clients.map((name) => [`clients/${name}/README.md`, `clients/${name}.md`] as const),
    ["CONTRIBUTING.md", "contributing.md"],
  ]);
}

/** A page that is called by its file's name, e.g. `[config.md](config.md)`. */
const FILE_NAME = /\[([\w-]+)\.md\]\(/g;

/** A page's text as the site has it: links between pages lead to pages, and those to other files to the project's repository. */
export function pageText(root: string, page: string, pages: Map<string, string>): string {
  const place = pages.get(page) as string;
  return mapLinks(read(root, page).replace(FILE_NAME, "[$1]("), (target) => {
    const { path, anchor } = partsOf(page, target);
    if (path === undefined || path === page) return target;
    const other = pages.get(path);
    if (other !== undefined) return `${relative(place, other)}${anchor}`;
    if (isPicture(path)) return relative(place, path.replace(/^docs\//, ""));
    const kind = statSync(`${root}/${path}`).isDirectory() ? "tree" : "blob";
    return `${REPOSITORY}/${kind}/main/${path}${anchor}`;
  });
}

/** The pictures that pages show, by their paths in the project. */
export function picturesOf(root: string): string[] {
  return readdirSync(`${root}/docs`)
    .filter(isPicture)
    .map((name) => `docs/${name}`);
}

/** What is wrong with the links of pages: files and anchors that are not there. */
export function deadLinks(root: string, pages: Iterable<string>): string[] {
  return [...pages].flatMap((page) =>
    linksOf(read(root, page)).flatMap((target) => {
      const { path, anchor } = partsOf(page, target);
      if (path === undefined) return [];
      if (!existsSync(`${root}/${path}`)) return [`${page}: ${target} leads to no file`];
      if (anchor === "" || !path.endsWith(".md")) return [];
      return anchorsOf(read(root, path)).has(anchor.slice(1)) ? [] : [`${page}: ${target} leads to no heading`];
    }),
  );
}

/** The file in the project that a link is to, and the heading in it; no path for another site's address. */
function partsOf(page: string, target: string): { path?: string; anchor: string } {
  if (/^[a-z]+:/i.test(target)) return { anchor: "" };
  const [, file = "", anchor = ""] = /^([^#]*)(#.*)?$/.exec(target) ?? [];
  return { path: file === "" ? page : posix.normalize(posix.join(posix.dirname(page), file)), anchor };
}

function relative(from: string, to: string): string {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}

function isPicture(path: string): boolean {
  return /\.(svg|png)$/.test(path);
}

function read(root: string, path: string): string {
  return readFileSync(`${root}/${path}`, "utf8");
}
