import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { getCached } from "./cache";
import { goBuild, goModuleFolder } from "./goBuild";
import { root } from "./paths";
import { run, whichCommand } from "./run";
import { versions } from "./versions";

/** What the engine needs to run programs in another language; for tests only. */
export interface LanguageHost {
  /** Folder of the host, for PATH. */
  folder: string;
  /** Variables for the engine's environment. */
  variables: Record<string, string>;
}

/** Finds the engine's host for YAML programs: on PATH, or built from Go modules. */
export async function findYamlHost(progress: (line: string) => void): Promise<LanguageHost> {
  const name = "pulumi-language-yaml";
  const installed = await whichCommand(name);
  if (installed !== undefined) return { folder: join(installed, ".."), variables: {} };
  const build = {
    name: "build from Go modules",
    fill: (folder: string, show: (line: string) => void) =>
      goBuild({ module: name, package: `github.com/pulumi/pulumi-yaml/cmd/${name}` }, join(folder, name), show),
  };
  return { folder: await getCached(`${name}-${versions.yamlHost}`, [build], progress), variables: {} };
}

/** Finds the engine's host for Python programs, built like that of Node, and Pulumi's Python packages. */
export async function findPythonHost(progress: (line: string) => void): Promise<LanguageHost> {
  const name = "pulumi-language-python";
  const sdk = "github.com/pulumi/pulumi/sdk/v3";
  const build = {
    name: "build from Go modules",
    fill: async (folder: string, show: (line: string) => void): Promise<void> => {
      // The module of Node's host also has Python's.
      const module = "pulumi-language-nodejs";
      const ldflags = `-X ${sdk}/go/common/version.Version=${versions.nodeHost}`;
      await goBuild({ module, package: `${sdk}/python/cmd/${name}`, ldflags }, join(folder, name), show);
      const launcher = `${name}-exec`;
      copyFileSync(join(await goModuleFolder(module, sdk), "python", "cmd", launcher), join(folder, launcher));
      chmodSync(join(folder, launcher), 0o755);
    },
  };
  const install = {
    name: "pip",
    fill: async (folder: string): Promise<void> => {
      const flags = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary=:all:"];
      const requirements = join(root, "toolchain", "python", "requirements.txt");
      await run("python3", ["-m", "pip", "install", ...flags, "--target", folder, "--requirement", requirements]);
    },
  };
  const folder = await getCached(`${name}-${versions.nodeHost}`, [build], progress);
  const packages = await getCached(`pulumi-python-${versions.pulumi}-parver`, [install], progress);
  return { folder, variables: { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" } };
}

/**
 * Finds the engine's host for Go programs: on PATH, or a stand-in that is built here, for tests only, because no module proxy has the official
 * one; see toolchain/go/pulumi-stand-ins.
 */
export async function findGoHost(progress: (line: string) => void): Promise<LanguageHost> {
  const name = "pulumi-language-go";
  const installed = await whichCommand(name);
  if (installed !== undefined) return { folder: join(installed, ".."), variables: {} };
  const build = {
    name: "build a stand-in",
    fill: (folder: string, show: (line: string) => void) =>
      goBuild({ module: "pulumi-stand-ins", package: `./cmd/${name}` }, join(folder, name), show),
  };
  return { folder: await getCached(`${name}-stand-in`, [build], progress), variables: {} };
}
