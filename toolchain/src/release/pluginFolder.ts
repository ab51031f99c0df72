import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths";
import { run } from "../run";

/** The workspaces that the plugin is made of. */
const PARTS = ["packages/topology", "packages/broker", "components", "plugin"];
/** Of what is installed, what no program loads while it runs: types, maps, texts but for licences, and a compiler. */
const LEFT_OUT =
  /(\.d\.[cm]?ts|\.map|\.tsbuildinfo)$|(^|\/)(?!licen[cs]e|copying|notice)[^/]*\.md$|^lib\/node_modules\/(typescript|@types)(\/|$)|\/node_modules\/\.bin(\/|$)/i;

/**
 * Fills a folder with the provider and all that it needs but Node.js, in the versions that package-lock.json has.
 * @returns whether a path of the folder is part of the plugin
 */
export async function fillPluginFolder(folder: string): Promise<(path: string) => boolean> {
  const library = join(folder, "lib");
  mkdirSync(library);
  for (const file of ["package.json", "package-lock.json", ".npmrc"]) cpSync(join(root, file), join(library, file));
  const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { workspaces: string[] };
  for (const workspace of workspaces) {
    mkdirSync(join(library, workspace), { recursive: true });
    cpSync(join(root, workspace, "package.json"), join(library, workspace, "package.json"));
  }
  const flags = ["--omit=dev", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["ci", "--workspace", "plugin", ...flags], { cwd: library });
  for (const workspace of PARTS) {
    cpSync(join(root, workspace, "dist"), join(library, workspace, "dist"), { recursive: true });
  }
  cpSync(join(root, "plugin", "schema.json"), join(library, "plugin", "schema.json"));
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  return isOfPlugin;
}

/** Whether a path of the folder is part of the plugin. The other packages come by the links that npm made to them in `node_modules`. */
export function isOfPlugin(path: string): boolean {
  return /^(lib$|lib\/(node_modules|plugin)(\/|$)|[^/]+$)/.test(path) && !LEFT_OUT.test(path);
}
