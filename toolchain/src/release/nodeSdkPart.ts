import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths";
import { run } from "../run";
import type { Release, ReleasePart, Use } from "./artifact";
import { programsFolder } from "./programs";
import { installPackages } from "./npmInstall";
import { tarballOf } from "./npmPackages";
import { installPlugin, ownPluginArchive } from "./pluginPart";
import { inScratch } from "./scratch";
import { previewStack } from "./stackPreview";

const MOST_KIB = 200;

/** The SDK of the components for TypeScript: a package of npm that was generated, and is compiled here. */
export function nodeSdkPart(): ReleasePart {
  const source = join(root, "sdk", "nodejs");
  const { name, version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as Record<string, string>;
  const file = tarballOf(name as string, version as string);
  const make = ({ folder }: Release): Promise<void> =>
    inScratch(async (scratch) => {
      const [sources, compiled] = [join(scratch, "sources"), join(scratch, "compiled")];
      cpSync(source, sources, { recursive: true });
      for (const kept of ["package.json", "README.md"]) cpSync(join(source, kept), join(compiled, kept));
      cpSync(join(root, "LICENSE"), join(compiled, "LICENSE"));
      // Pulumi's types and those of Node.js.
      symlinkSync(join(root, "node_modules"), join(scratch, "node_modules"));
      const types = ["--types", "node", "--skipLibCheck"];
      const paths = ["--sourceMap", "false", "--outDir", compiled];
      await run(join(root, "node_modules", ".bin", "tsc"), ["--project", sources, ...types, ...paths]);
      await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: compiled });
    });
  return { title: "SDK for TypeScript", artifacts: [{ file, mostKiB: MOST_KIB, use: sdkUse(file) }], make };
}

function sdkUse(file: string): Use {
  return {
    mostSeconds: 180,
    install: (folder, release) => installPackages(folder, [join(release.folder, file)]),
    run: async (folder, release) => {
      const home = join(folder, "home");
      await installPlugin(home, join(release.folder, ownPluginArchive(release.version)), release);
      cpSync(join(programsFolder, "node-sdk"), folder, { recursive: true });
      const created = await previewStack(folder, release, { home });
      return `npm install; pulumi preview of a program, ${created} to create`;
    },
  };
}
