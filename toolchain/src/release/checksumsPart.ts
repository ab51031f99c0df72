import { createHash } from "node:crypto";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasCommand, run } from "../run";
import type { Release, ReleasePart, Use } from "./artifact";

const FILE = "SHA256SUMS";

/** The checksums of all other artifacts, which are made before. */
export function checksumsPart(): ReleasePart {
  const make = async ({ folder }: Release): Promise<void> => {
    const names = readdirSync(folder)
      .filter((name) => name !== FILE)
      .sort();
    const lines = names.map((name) => `${sumOf(join(folder, name))}  ${name}\n`);
    writeFileSync(join(folder, FILE), lines.join(""));
  };
  return { title: "Checksums", artifacts: [{ file: FILE, mostKiB: 16, use }], make };
}

function sumOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

/**
 * How the checksums are tried out once they are published: all files that they name are fetched.
 * @param fetchAsset gets a file of the published release
 */
export function publishedChecksumsUse(fetchAsset: (file: string, folder: string) => Promise<void>): Use {
  const install = async (folder: string): Promise<void> => {
    await fetchAsset(FILE, folder);
    const names = [...readFileSync(join(folder, FILE), "utf8").matchAll(/^[0-9a-f]{64} {2}(.+)$/gm)];
    if (names.length === 0) throw new Error(`${FILE} names no file`);
    for (const [, name = ""] of names) await fetchAsset(name, folder);
  };
  return { ...use, mostSeconds: 300, install };
}

const use: Use = {
  mostSeconds: 30,
  install: async (folder, release) => cpSync(release.folder, folder, { recursive: true }),
  run: async (folder) => {
    const [command, ...args] = (await hasCommand("sha256sum")) ? ["sha256sum"] : ["shasum", "--algorithm", "256"];
    const printed = await run(command as string, [...args, "--check", FILE], { cwd: folder });
    return `${command} --check: ${printed.match(/: OK$/gm)?.length} files`;
  },
};
