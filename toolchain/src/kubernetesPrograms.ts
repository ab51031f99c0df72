import { join } from "node:path";
import { installPackages, isRootOnDebian } from "./debianPackages";
import { Way, getCached } from "./cache";
import { goBuild } from "./goBuild";
import { findKubernetesDefinitions } from "./kubernetesDefinitions";
import { whichCommand } from "./run";
import { versions } from "./versions";

/** The programs of a Kubernetes control plane, and of RabbitMQ's operator; for tests only. */
export interface KubernetesPrograms {
  apiserver: string;
  controllerManager: string;
  kubectl: string;
  etcd: string;
  operator: string;
  /** Folder with the definitions of kinds that operators bring. */
  definitions: string;
}

/**
 * Builds a control plane from Go modules, once, and takes etcd from PATH or from Debian. There is no kubelet, so pods are created but never
 * run.
 * @throws Error that says what was tried
 */
export async function findKubernetes(progress: (line: string) => void): Promise<KubernetesPrograms> {
  const etcd = await findEtcd(progress);
  const bin = await getCached(`kubernetes-${versions.kubernetes}`, [buildKubernetes()], progress);
  const operator = await getCached(
    `rabbitmq-cluster-operator-${versions.clusterOperator}`,
    [buildOperator()],
    progress,
  );
  return {
    apiserver: join(bin, "kube-apiserver"),
    controllerManager: join(bin, "kube-controller-manager"),
    kubectl: join(bin, "kubectl"),
    etcd,
    operator: join(operator, "rabbitmq-cluster-operator"),
    definitions: await findKubernetesDefinitions(progress),
  };
}

async function findEtcd(progress: (line: string) => void): Promise<string> {
  const found = await whichCommand("etcd");
  if (found !== undefined) return found;
  if (!isRootOnDebian()) throw new Error("no etcd on PATH, and only root on Debian could install it here");
  await installPackages(["etcd-server"], progress);
  const installed = await whichCommand("etcd");
  if (installed === undefined) throw new Error("Debian's etcd-server was installed, but there is no etcd on PATH");
  return installed;
}

function buildKubernetes(): Way {
  const [major, minor] = versions.kubernetes.split(".");
  const linked = { gitVersion: `v${versions.kubernetes}`, gitMajor: major, gitMinor: minor };
  const ldflags = Object.entries(linked).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return {
    name: "build from Go modules",
    async fill(folder, progress) {
      for (const name of ["kube-apiserver", "kube-controller-manager", "kubectl"]) {
        const program = { module: "kubernetes", package: `k8s.io/kubernetes/cmd/${name}`, ldflags: ldflags.join(" ") };
        await goBuild(program, join(folder, name), progress);
      }
    },
  };
}

function buildOperator(): Way {
  const name = "rabbitmq-cluster-operator";
  return {
    name: "build from Go modules",
    fill: (folder, progress) =>
      goBuild({ module: name, package: "github.com/rabbitmq/cluster-operator/v2" }, join(folder, name), progress),
  };
}
