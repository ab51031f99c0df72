import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths";
import { NpmPackage, publishedPackages } from "./npmPackages";

/** Files that say the version beside the npm packages, and how; each place in a file has to say the same. */
export const versionPlaces: readonly (readonly [file: string, pattern: RegExp])[] = [
  ["package.json", /^ {2}"version": "(.+)"/gm],
  ["plugin/package.json", /^ {2}"version": "(.+)"/gm],
  ["plugin/package.json", /^ {4}"pulumi-rabbitmq-delay": "(.+)"/gm],
  ["plugin/schema.json", /^ {2}"version": "(.+)"/gm],
  // The SDK's own version, and that of the plugin which it starts.
  ["sdk/nodejs/package.json", /^ {4}"version": "(.+)"/gm],
  ["sdk/nodejs/package.json", /^ {8}"version": "(.+)"/gm],
  ["sdk/python/pyproject.toml", /^ *version = "(.+)"/gm],
  ["sdk/python/pulumi_rabbitmq_delay/pulumi-plugin.json", /^ {2}"version": "(.+)"/gm],
  ["sdk/go/rabbitmqdelay/pulumi-plugin.json", /^ {2}"version": "(.+)"/gm],
  ["sdk/go/rabbitmqdelay/internal/pulumiUtilities.go", /semver\.MustParse\("(.+)"\)/g],
  ["sdk/dotnet/RabbitMqDelay.Infrastructure.csproj", /^ *<Version>(.+)<\/Version>/gm],
  ["sdk/dotnet/pulumi-plugin.json", /^ {2}"version": "(.+)"/gm],
  ["sdk/dotnet/version.txt", /^(.+)$/gm],
  ["clients/dotnet/Directory.Build.props", /^ *<Version>(.+)<\/Version>/gm],
  ["clients/python/pyproject.toml", /^ *version = "(.+)"/gm],
  ["clients/java/pom.xml", /^ {2}<version>(.+)<\/version>/gm],
];

/** A version without a part like `-rc.1`. */
const RELEASED = /^\d+\.\d+\.\d+$/;

/**
 * The version of a release, which all its packages have.
 * @param textOf gives the text of a file; default: as it is in the checkout
 * @throws Error that names the packages that have, or need, another one; and for a prerelease, because each registry has other names
 * for those, and npm would give it to whoever asks for the newest
 */
export function releaseVersion(textOf = (file: string): string => readFileSync(join(root, file), "utf8")): string {
  const found = versionPlaces.flatMap(([file, pattern]): [place: string, version: string][] => {
    const versions = [...textOf(file).matchAll(pattern)].map(([, version]) => version ?? "none");
    return (versions.length === 0 ? ["none"] : versions).map((version) => [file, version]);
  });
  const all = [...found, ...publishedPackages().map(({ name, version }) => [name, version] as [string, string])];
  const [, version] = all[0] as [string, string];
  const others = [
    ...all.filter(([, other]) => other !== version).map(([place, other]) => `${place} has ${other}`),
    ...findOtherRanges(publishedPackages(), version),
  ];
  if (others.length > 0)
    throw new Error(
      `package.json has version ${version}, which all packages of a release must have; ${others.join(", ")}`,
    );
  checkReleased(version);
  return version;
}

/** @throws Error for a prerelease */
export function checkReleased(version: string): void {
  if (RELEASED.test(version)) return;
  throw new Error(`version: ${version} is not allowed; it must be like 1.2.3, because prereleases are not published`);
}

/** The packages that need another version of one of this project's own: npm would take that one from its registry, without a word. */
export function findOtherRanges(packages: readonly NpmPackage[], version: string): string[] {
  return packages.flatMap(({ name, ranges }) =>
    Object.entries(ranges)
      .filter(([, range]) => ![version, `^${version}`].includes(range))
      .map(([needed, range]) => `${name} needs ${needed} ${range}`),
  );
}
