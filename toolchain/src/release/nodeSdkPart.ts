import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../paths";
import { run } from "../run";
import type { Release, ReleasePart, Use } from "./artifact";
import { programsFolder } from "./programs";
import { InstallOptions, installPackages } from "./npmInstall";
import { tarballOf } from "./npmPackages";
import { PluginInstall, installOwnPlugin, installPublishedPlugin } from "./pluginPart";
import { inScratch } from "./scratch";
import { previewStack } from "./stackPreview";

const MOST_KIB = 200;

/** The SDK of the components for TypeScript: a package of npm that was generated, and is compiled here. */
export function nodeSdkPart(): ReleasePart {
  const { name, version } = manifest();
  const file = tarballOf(name, version);
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
  const use = sdkUse(({ folder }) => join(folder, file), installOwnPlugin);
  return { title: "SDK for TypeScript", artifacts: [{ file, mostKiB: MOST_KIB, use }], make };
}

/** The SDK as npm knows it, and how it is tried out once it is published. */
export function publishedNodeSdk(): { spec: string; use: Use } {
  const { name, version } = manifest();
  const spec = `${name}@${version}`;
  return { spec, use: sdkUse(() => spec, installPublishedPlugin, { isAskedAnew: true }) };
}

const source = join(root, "sdk", "nodejs");

function manifest(): { name: string; version: string } {
  return JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as { name: string; version: string };
}

function sdkUse(
  specOf: (release: Release) => string,
  installThePlugin: PluginInstall,
  options: InstallOptions = {},
): Use {
  return {
    mostSeconds: 180,
    install: (folder, release) => installPackages(folder, [specOf(release)], options),
    run: async (folder, release) => {
      const home = join(folder, "home");
      await installThePlugin(home, release);
      cpSync(join(programsFolder, "node-sdk"), folder, { recursive: true });
      const created = await previewStack(folder, release, { home });
      return `npm install; pulumi preview of a program, ${created} to create`;
    },
  };
}
