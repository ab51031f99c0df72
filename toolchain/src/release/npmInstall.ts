import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { run } from "../run";

/** How packages are installed. */
export interface InstallOptions {
  /** Whether packages may run programs of theirs meanwhile, such as a compiler; default: no. */
  scripts?: boolean;
  /** Whether the registry is asked what it has now, even of what npm has asked for before; default: no. */
  isAskedAnew?: boolean;
}

/** Installs packages into an empty folder. @param specs as npm takes them: tarballs, or names with versions */
export async function installPackages(folder: string, specs: string[], options: InstallOptions = {}): Promise<void> {
  // Without it, npm would look for a project in the folders above.
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "empty", private: true }));
  const flags = ["--no-audit", "--no-fund", "--loglevel=error", "--save-exact"];
  flags.push(options.isAskedAnew === true ? "--prefer-online" : "--prefer-offline");
  const scripts = options.scripts === true ? [] : ["--ignore-scripts"];
  await run("npm", ["install", ...flags, ...scripts, ...specs], { cwd: folder, env: environment() });
}

/** What of these packages is installed in a folder, however deep. */
export function installedOf(folder: string, names: string[]): string[] {
  const modules = join(folder, "node_modules");
  if (!existsSync(modules)) return [];
  const installed = new Set(readdirSync(modules, { recursive: true, encoding: "utf8" }));
  const isThere = (name: string): boolean =>
    [...installed].some((path) => path === name || path.endsWith(`node_modules/${name}`));
  return names.filter(isThere);
}

/** Node's own headers, where they came with it, for what is compiled. */
function environment(): NodeJS.ProcessEnv {
  const headers = resolve(process.execPath, "../..");
  const hasHeaders = existsSync(join(headers, "include", "node", "node.h"));
  return hasHeaders ? { ...process.env, npm_config_nodedir: headers } : process.env;
}
