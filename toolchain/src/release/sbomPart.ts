import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../run";
import type { Release, ReleasePart } from "./artifact";
import { publishedPackages } from "./npmPackages";
import { inScratch } from "./scratch";

const MOST_KIB = 2 * 1024;

interface Component {
  name: string;
  version?: string;
  purl?: string;
}

/** The software bill of materials: all that comes with the npm packages, in CycloneDX's form. */
export function sbomPart(version: string): ReleasePart {
  const file = `rabbitmq-delay-${version}.cdx.json`;
  const make = ({ folder }: Release): Promise<void> =>
    inScratch(async (scratch) => {
      // npm calls the whole by its folder.
      const cwd = join(scratch, "rabbitmq-delay");
      mkdirSync(cwd);
      writeFileSync(
        join(cwd, "package.json"),
        JSON.stringify({ name: "rabbitmq-delay-packages", version, private: true }),
      );
      const tarballs = publishedPackages().map(({ tarball }) => join(folder, tarball));
      const flags = ["--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
      await run("npm", ["install", ...flags, "--prefer-offline", ...tarballs], { cwd });
      const form = ["--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "library"];
      const written = await run("npm", ["sbom", "--silent", ...form], { cwd });
      writeFileSync(join(folder, file), withoutFolder(written, folder));
    });
  const use = {
    mostSeconds: 1,
    install: async () => undefined,
    run: async (_folder: string, release: Release) => {
      const text = readFileSync(join(release.folder, file), "utf8");
      const [path] = /(?<=")(file:|[A-Za-z]:\\|\/)[^"]*/.exec(text) ?? [];
      if (path !== undefined) throw new Error(`it names ${path}, which is on this machine alone`);
      const { components } = JSON.parse(text) as { components: Component[] };
      for (const { name } of publishedPackages()) {
        const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
        if (!components.some((one) => one.purl?.startsWith(purl))) throw new Error(`it does not name ${purl}`);
      }
      const nameless = components.filter((one) => one.version === undefined || one.purl === undefined);
      if (nameless.length > 0) throw new Error(`no version of ${nameless.map(({ name }) => name).join(", ")}`);
      return `read: ${components.length} packages, each with its version`;
    },
  };
  return { title: "Bill of materials", artifacts: [{ file, mostKiB: MOST_KIB, use }], make };
}

/**
 * A bill of materials that names tarballs by their files alone: npm names them by where they lie on the machine that makes it.
 * @param folder in which they lie
 */
export function withoutFolder(text: string, folder: string): string {
  return text.replaceAll(`"file:${folder}/`, '"');
}
