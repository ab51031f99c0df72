import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findYamlHost } from "../languageHosts";
import { root } from "../paths";
import { run } from "../run";
import { writeArchive } from "./archive";
import type { Artifact, Release, ReleasePart, Use } from "./artifact";
import { programsFolder } from "./programs";
import { fillPluginFolder } from "./pluginFolder";
import { makePulumiHome } from "./pulumiHome";
import { inScratch } from "./scratch";
import { previewStack } from "./stackPreview";

const NAME = "rabbitmq-delay";
const SYSTEMS = ["linux", "darwin", "windows"];
const MACHINES = ["amd64", "arm64"];
const MOST_KIB = 20 * 1024;

/** The plugin, as an archive a platform, which `pulumi plugin install --file` takes and the engine fetches from a release. */
export function pluginPart(version: string): ReleasePart {
  const artifacts = SYSTEMS.flatMap((system) =>
    MACHINES.map((machine): Artifact => {
      const file = pluginArchive(version, system, machine);
      const isOwn = file === ownPluginArchive(version);
      return { file, mostKiB: MOST_KIB, use: isOwn ? yamlUse(file) : `only made: it is for ${system} on ${machine}` };
    }),
  );
  return { title: "Pulumi plugin", artifacts, make };
}

/** The name of a platform's archive, as the engine asks for it. */
export function pluginArchive(version: string, system: string, machine: string): string {
  return `pulumi-resource-${NAME}-v${version}-${system}-${machine}.tar.gz`;
}

/** The name of the archive for this machine. */
export function ownPluginArchive(version: string): string {
  const system = process.platform === "win32" ? "windows" : process.platform;
  return pluginArchive(version, system, process.arch === "arm64" ? "arm64" : "amd64");
}

/** Only what starts Node.js differs, and that by the system alone. */
function make({ folder, version }: Release): Promise<void> {
  return inScratch(async (staged) => {
    const isOfPlugin = await fillPluginFolder(staged);
    const launcher = `pulumi-resource-${NAME}`;
    for (const name of [launcher, `${launcher}.cmd`]) {
      rmSync(join(staged, launcher), { force: true });
      cpSync(join(programsFolder, "plugin", name), join(staged, name));
      chmodSync(join(staged, name), 0o755);
      const systems = SYSTEMS.filter((system) => (system === "windows") === name.endsWith(".cmd"));
      const files = systems.flatMap((system) => MACHINES.map((machine) => pluginArchive(version, system, machine)));
      const [first, ...others] = files.map((file) => join(folder, file)) as [string, ...string[]];
      await writeArchive(first, staged, isOfPlugin);
      for (const other of others) copyFileSync(first, other);
    }
  });
}

function yamlUse(file: string): Use {
  return {
    mostSeconds: 60,
    install: async (folder, release) => installPlugin(join(folder, "home"), join(release.folder, file), release),
    run: async (folder, release) =>
      `pulumi plugin install --file; pulumi preview of a YAML program, ${await previewYaml(folder, release)} to create`,
  };
}

/** How the plugin is tried out once it is published: the engine fetches it from where the schema says. */
export function publishedPluginUse(): Use {
  return {
    mostSeconds: 120,
    install: (folder, release) => installPublishedPlugin(join(folder, "home"), release),
    run: async (folder, release) =>
      `pulumi plugin install; pulumi preview of a YAML program, ${await previewYaml(folder, release)} to create`,
  };
}

/** @param folder with the plugin in `home` */
async function previewYaml(folder: string, release: Release): Promise<number> {
  const [program, host] = [join(folder, "program"), await findYamlHost(release.progress)];
  mkdirSync(program);
  cpSync(join(programsFolder, "yaml"), program, { recursive: true });
  return previewStack(program, release, { home: join(folder, "home"), path: [host.folder] });
}

/** Installs the plugin from an archive, as a person does who has downloaded it. @param home made for it, as PULUMI_HOME */
export function installPlugin(home: string, archive: string, release: Release): Promise<void> {
  return runPluginInstall(home, ["--file", archive], release);
}

/** Installs the plugin from where the engine looks for it by itself. @param home made for it, as PULUMI_HOME */
export async function installPublishedPlugin(home: string, release: Release): Promise<void> {
  const schema = JSON.parse(readFileSync(join(root, "plugin", "schema.json"), "utf8")) as Record<string, string>;
  await runPluginInstall(home, ["--server", schema.pluginDownloadURL as string], release);
}

/** How an SDK's trial gets the plugin: from the release's folder, or from where it was published. */
export type PluginInstall = (home: string, release: Release) => Promise<void>;

/** Installs the plugin from the archive in the release's folder. */
export const installOwnPlugin: PluginInstall = (home, release) =>
  installPlugin(home, join(release.folder, ownPluginArchive(release.version)), release);

async function runPluginInstall(home: string, source: string[], { engine, version }: Release): Promise<void> {
  makePulumiHome(home, engine);
  const env = { ...process.env, PULUMI_HOME: home, PATH: `${engine.binFolder}:${process.env.PATH}` };
  await run("pulumi", ["plugin", "install", "resource", NAME, `v${version}`, ...source], { env });
}
