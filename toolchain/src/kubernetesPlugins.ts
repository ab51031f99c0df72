import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Way, getCached } from "./cache";
import { downloadPlugin } from "./engine";
import { goBuild } from "./goBuild";
import { versions } from "./versions";

/** The engine's plugins for stacks on Kubernetes. */
export interface KubernetesPlugins {
  /** Folders for PATH. */
  folders: string[];
  /** Whether one of them is a stand-in, which does not wait for pods. */
  areStandIns: boolean;
}

/**
 * Finds the plugins `kubernetes` and `random`: the official ones, or if those can't be fetched, stand-ins that are built here, for tests
 * only; see toolchain/go/pulumi-stand-ins.
 */
export async function findKubernetesPlugins(progress: (line: string) => void): Promise<KubernetesPlugins> {
  const wanted = { kubernetes: versions.kubernetesProvider, random: versions.randomProvider };
  const folders: string[] = [];
  for (const [name, version] of Object.entries(wanted)) {
    folders.push(
      await getCached(
        `provider-${name}-${version}`,
        [downloadPlugin(name, version), buildStandIn(name, version)],
        progress,
      ),
    );
  }
  return { folders, areStandIns: folders.some((folder) => existsSync(join(folder, STAND_IN))) };
}

/** Part of a stand-in's folder name, so that a cache shows which one it has. */
const STAND_IN = "stand-in";

function buildStandIn(name: string, version: string): Way {
  return {
    name: "build a stand-in",
    async fill(folder, progress) {
      const binary = `pulumi-resource-${name}`;
      const ldflags = `-X rabbitmq-delay/toolchain/pulumi-stand-ins/serve.Version=${version}`;
      await goBuild(
        { module: "pulumi-stand-ins", package: `./cmd/${binary}`, ldflags },
        join(folder, binary),
        progress,
      );
      writeFileSync(join(folder, STAND_IN), "");
    },
  };
}
