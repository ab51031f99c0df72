import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths";
import { run } from "../run";

/** An npm package that a release publishes. */
export interface NpmPackage {
  name: string;
  version: string;
  /** From the checkout's folder. */
  folder: string;
  /** The file's name, as npm gives it. */
  tarball: string;
  /** The published packages that it needs, and so on. */
  needs: NpmPackage[];
  /** The ranges in which it needs those that it names itself, by name. */
  ranges: Record<string, string>;
}

interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  workspaces?: string[];
  dependencies?: Record<string, string>;
}

/** The packages that are published: the workspaces that are not private. */
export function publishedPackages(): NpmPackage[] {
  const manifests = (manifestOf(".").workspaces ?? []).map((folder) => ({ folder, ...manifestOf(folder) }));
  const published = manifests.filter((manifest) => manifest.private !== true);
  const made = new Map<string, NpmPackage>();
  const packageOf = (name: string): NpmPackage[] => {
    const manifest = published.find((other) => other.name === name);
    const known = made.get(name);
    if (manifest === undefined || known !== undefined) return known === undefined ? [] : [known];
    const { version, folder, dependencies = {} } = manifest;
    const direct = Object.keys(dependencies).flatMap(packageOf);
    const needs = [...new Set(direct.flatMap((needed) => [needed, ...needed.needs]))];
    const isOwn = ([needed]: [string, string]): boolean => published.some((other) => other.name === needed);
    const ranges = Object.fromEntries(Object.entries(dependencies).filter(isOwn));
    const one = { name, version, folder, tarball: tarballOf(name, version), needs, ranges };
    made.set(name, one);
    return [one];
  };
  return published.flatMap(({ name }) => packageOf(name));
}

/** Packs packages as they would be published. @param folder in which their tarballs come to lie */
export async function packPackages(packages: NpmPackage[], folder: string): Promise<void> {
  const stale = packages.flatMap(({ folder: own }) => staleFiles(join(root, own)));
  if (stale.length > 0) throw new Error(`compiled of sources that are gone: ${stale.join(", ")}; run make clean build`);
  const workspaces = packages.flatMap(({ name }) => ["--workspace", name]);
  await run("npm", ["pack", "--silent", "--pack-destination", folder, ...workspaces], { cwd: root });
}

/**
 * What lies in a package's `dist` though its source is gone: the compiler removes nothing, and npm packs what is there.
 * @param folder of the package, with its sources in `src` or in itself
 */
export function staleFiles(folder: string): string[] {
  const [dist, sources] = [join(folder, "dist"), join(folder, "src")];
  const from = existsSync(sources) ? sources : folder;
  const compiled = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((file) => COMPILED.test(file));
  return compiled
    .filter((file) => !existsSync(join(from, file.replace(COMPILED, ".ts"))))
    .map((file) => join(dist, file));
}

/** Ends of what the compiler makes of a source. */
const COMPILED = /(\.d\.ts|\.js)(\.map)?$/;

/** The name that npm gives to a package's tarball. */
export function tarballOf(name: string, version: string): string {
  return `${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
}
