import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths";
import { NpmPackage, publishedPackages } from "./npmPackages";

/** Files that say the version beside the npm packages, and how. */
const PLACES: [file: string, pattern: RegExp][] = [
  ["package.json", /^ {2}"version": "(.+)"/m],
  ["plugin/package.json", /^ {2}"version": "(.+)"/m],
  ["plugin/schema.json", /^ {2}"version": "(.+)"/m],
  ["sdk/nodejs/package.json", /^ {4}"version": "(.+)"/m],
  ["sdk/python/pyproject.toml", /^ *version = "(.+)"/m],
  ["clients/python/pyproject.toml", /^ *version = "(.+)"/m],
  ["clients/java/pom.xml", /^ {2}<version>(.+)<\/version>/m],
];

/** The version of a release, which all its packages have. @throws Error that names the packages that have, or need, another one */
export function releaseVersion(): string {
  const found = PLACES.map(([file, pattern]): [place: string, version: string] => [
    file,
    pattern.exec(readFileSync(join(root, file), "utf8"))?.[1] ?? "none",
  ]);
  const all = [...found, ...publishedPackages().map(({ name, version }) => [name, version] as [string, string])];
  const [, version] = all[0] as [string, string];
  const others = [
    ...all.filter(([, other]) => other !== version).map(([place, other]) => `${place} has ${other}`),
    ...findOtherRanges(publishedPackages(), version),
  ];
  if (others.length === 0) return version;
  throw new Error(
    `package.json has version ${version}, which all packages of a release must have; ${others.join(", ")}`,
  );
}

/** The packages that need another version of one of this project's own: npm would take that one from its registry, without a word. */
export function findOtherRanges(packages: readonly NpmPackage[], version: string): string[] {
  return packages.flatMap(({ name, ranges }) =>
    Object.entries(ranges)
      .filter(([, range]) => ![version, `^${version}`].includes(range))
      .map(([needed, range]) => `${name} needs ${needed} ${range}`),
  );
}
