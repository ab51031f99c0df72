import { versions } from "./versions";

/**
 * SHA-256 of the engine's archives, by file name. They are those of nixpkgs' `pulumi-bin` of the same version. A new version of the engine
 * needs new ones; without them, the vendor's own list decides, see {@link vendorList}.
 */
export const pinnedSums: Readonly<Record<string, string>> = {
  "pulumi-v3.220.0-linux-x64.tar.gz": "6f00c595e0c35821cd31903d7bb328a11c3c4bdad7acd59403fbb14cfcad45ff",
  "pulumi-v3.220.0-linux-arm64.tar.gz": "2600ee0f43d8cc3756d5ba96c31864f9b246961bb7f6d8ae467ed8c270c4f66b",
  "pulumi-v3.220.0-darwin-x64.tar.gz": "21bb2c9bdbf560cdee07c205b808b3b904159837eed6b24552c958f7b3129eee",
  "pulumi-v3.220.0-darwin-arm64.tar.gz": "4b2e9da6f2ee17d2e8173942df16b49c1fa3be05a1aac2855e373d4ca9a75b5e",
};

/**
 * Where Pulumi publishes the sums of a plugin's archives: at GitHub, while the archives come from its own site. No sum of these archives is
 * pinned here, so this protects against tampering with one of the two places or with the connection, but not against the vendor.
 */
export function vendorList(plugin: string, version: string): string {
  return `https://github.com/pulumi/pulumi-${plugin}/releases/download/v${version}/pulumi-${plugin}_${version}_checksums.txt`;
}

/** The same for the engine itself. */
export const engineList = `https://github.com/pulumi/pulumi/releases/download/v${versions.pulumi}/pulumi-${versions.pulumi}-checksums.txt`;

/** The SHA-256 of a file in a list with lines `SUM  FILE`. @throws Error when the list has none */
export function sumInList(list: string, file: string): string {
  for (const line of list.split("\n")) {
    const [, sum, name] = /^([0-9a-fA-F]{64})\s+\*?(\S+)\s*$/.exec(line) ?? [];
    if (sum !== undefined && name === file) return sum.toLowerCase();
  }
  throw new Error(`the list of checksums has none for ${file}`);
}
