import { cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Way, getCached } from "./cache";
import { engineList, vendorList } from "./checksums";
import { fetchArchive } from "./download";
import { goBuild } from "./goBuild";
import { whichCommand } from "./run";
import { versions } from "./versions";

/** The environment that `pulumi` needs to run without any download. */
export interface Engine {
  /** Folder of `pulumi` and its Node host, for PATH. */
  binFolder: string;
  /** PULUMI_HOME with the RabbitMQ provider. */
  home: string;
  /** Where the engine came from, as text for users. */
  origin: string;
}

const VERSION_VARIABLE = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version";

const engineName = `pulumi-${versions.pulumi}-nodejs-${versions.nodeHost}`;

/**
 * The built host loads ts-node, a third of a second, unless a flag says otherwise; a newer engine no longer passes the project's options as
 * flags.
 */
const NODE_HOST = `#!/bin/sh
if grep -qsE '^ +typescript: *false' Pulumi.yaml; then set -- -typescript=false "$@"; fi
exec "\${0%/*}/pulumi-language-nodejs-host" "$@"
`;

/** Ways that work without this toolchain's downloads and builds. */
const INSTALL_ENGINE =
  `Or install Pulumi ${versions.pulumi} or newer (https://www.pulumi.com/docs/install/), and put pulumi and its Node host, ` +
  `pulumi-language-nodejs, on PATH`;
const INSTALL_PLUGIN = `Or install the plugin: pulumi plugin install resource rabbitmq ${versions.rabbitmqProvider} (--file ARCHIVE without a network)`;

/** Finds the engine, its Node host and the RabbitMQ provider, or gets them: PATH, cache, download, build. */
export async function findEngine(progress: (line: string) => void): Promise<Engine> {
  const installed = await installedEngine();
  const cachedFolder =
    installed ?? join(await getCached(engineName, [download(), buildEngine()], progress, INSTALL_ENGINE), "bin");
  const provider = await getCached(
    `provider-rabbitmq-${versions.rabbitmqProvider}`,
    [installedPlugin(), rabbitmqPlugin(), buildProvider()],
    progress,
    INSTALL_PLUGIN,
  );
  return { binFolder: cachedFolder, home: provider, origin: installed === undefined ? "cache" : "PATH" };
}

/** Finds a `pulumi` on PATH, which counts only if its Node host is there, too. */
async function installedEngine(): Promise<string | undefined> {
  const [pulumi, host] = await Promise.all([whichCommand("pulumi"), whichCommand("pulumi-language-nodejs")]);
  return pulumi !== undefined && host !== undefined ? dirname(pulumi) : undefined;
}

function download(): Way {
  return {
    name: "download from pulumi.com",
    async fill(folder, progress) {
      const [system, machine] = platform();
      const name = `pulumi-v${versions.pulumi}-${system}-${machine}.tar.gz`;
      const url = `https://get.pulumi.com/releases/sdk/${name}`;
      await fetchArchive({ url, listUrl: engineList }, folder, progress);
      renameSync(join(folder, "pulumi"), join(folder, "bin"));
    },
  };
}

function buildEngine(): Way {
  return {
    name: "build from Go modules",
    async fill(folder, progress) {
      const bin = join(folder, "bin");
      const host = "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs";
      const ldflags = (version: string): string => `-X ${VERSION_VARIABLE}=${version}`;
      mkdirSync(bin);
      await goBuild(
        { module: "pulumi", package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", ldflags: ldflags(versions.pulumi) },
        join(bin, "pulumi"),
        progress,
      );
      await goBuild(
        { module: "pulumi-language-nodejs", package: host, ldflags: ldflags(versions.nodeHost) },
        join(bin, "pulumi-language-nodejs-host"),
        progress,
      );
      writeFileSync(join(bin, "pulumi-language-nodejs"), NODE_HOST, { mode: 0o755 });
    },
  };
}

/** Takes the plugin that an installed Pulumi has. */
function installedPlugin(): Way {
  return {
    name: "plugins of an installed Pulumi",
    async fill(folder) {
      const home = process.env.PULUMI_HOME ?? join(homedir(), ".pulumi");
      const found = join(home, PLUGIN);
      if (!existsSync(found)) throw new Error(`${found} is not there`);
      cpSync(found, pluginFolder(folder), { recursive: true });
    },
  };
}

function rabbitmqPlugin(): Way {
  const { name, fill } = downloadPlugin("rabbitmq", versions.rabbitmqProvider);
  return { name, fill: (folder, progress) => fill(pluginFolder(folder), progress) };
}

/** Fills a folder with the official plugin of a name. */
export function downloadPlugin(plugin: string, version: string): Way {
  return {
    name: "download from pulumi.com",
    async fill(folder, progress) {
      const [system, machine] = platform("amd64");
      const name = `pulumi-resource-${plugin}-v${version}-${system}-${machine}.tar.gz`;
      const url = `https://get.pulumi.com/releases/plugins/${name}`;
      await fetchArchive({ url, listUrl: vendorList(plugin, version) }, folder, progress);
    },
  };
}

function buildProvider(): Way {
  return {
    name: "build from Go modules",
    fill: (folder, progress) =>
      goBuild(
        { module: "pulumi-resource-rabbitmq", package: "." },
        join(pluginFolder(folder), "pulumi-resource-rabbitmq"),
        progress,
      ),
  };
}

const PLUGIN = join("plugins", `resource-rabbitmq-v${versions.rabbitmqProvider}`);

function pluginFolder(home: string): string {
  const folder = join(home, PLUGIN);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The names in Pulumi's archives; `x64` is called `amd64` for plugins. */
function platform(x64 = "x64"): [string, string] {
  const system = process.platform === "darwin" ? "darwin" : "linux";
  return [system, process.arch === "arm64" ? "arm64" : x64];
}
