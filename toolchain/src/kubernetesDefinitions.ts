import { copyFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Way, getCached } from "./cache";
import { goModuleFolder } from "./goBuild";
import { versions } from "./versions";

const MODULE = "kubernetes-definitions";

/** Where the definitions of foreign kinds are in their Go modules, which are pinned in toolchain/go. */
const FILES: Record<string, string> = {
  "github.com/rabbitmq/cluster-operator/v2": "config/crd/bases/rabbitmq.com_rabbitmqclusters.yaml",
  "github.com/cert-manager/cert-manager": "deploy/crds/cert-manager.io_certificates.yaml",
  "github.com/prometheus-operator/prometheus-operator":
    "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
};

/** A folder with the definitions of kinds that operators bring, for the tests' control plane. */
export function findKubernetesDefinitions(progress: (line: string) => void): Promise<string> {
  return getCached(`${MODULE}-${versions.clusterOperator}`, [fromModules()], progress);
}

function fromModules(): Way {
  return {
    name: "Go modules",
    async fill(folder, progress) {
      for (const [module, file] of Object.entries(FILES)) {
        progress(module);
        copyFileSync(join(await goModuleFolder(MODULE, module), file), join(folder, basename(file)));
      }
    },
  };
}
