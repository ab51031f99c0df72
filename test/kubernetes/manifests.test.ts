import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RabbitMqClusterArgs } from "pulumi-rabbitmq-delay";
import { ControlPlane, kubectl } from "../../toolchain/dist/controlPlane";
import { CapturedManifest, captureManifests } from "../support/capture";
import { objects, onKubernetes, restrictedNamespace, tlsSecret, until } from "../support/controlPlanes";
import { temporaryFolder } from "../support/temporaryFolder";

const storage = { className: "fast" };

/** All that arguments can turn on, and the least of it. */
const variants: Record<string, Omit<RabbitMqClusterArgs, "namespace">> = {
  "a single node without TLS": { storage, replicas: 1 },
  "three nodes with a certificate of one's own": { storage, tls: { secretName: "certificate" } },
  "five nodes with everything": {
    storage: { className: "fast", sizeGiB: 200 },
    replicas: 5,
    memoryMiB: 8192,
    cpu: "1500m",
    tls: { issuer: "authority", dnsNames: ["rabbitmq.example.com"] },
    plugins: ["rabbitmq_shovel"],
    config: { "log.console.level": "warning" },
    access: {
      clientNamespaces: ["services"],
      managementNamespaces: ["ingress-nginx"],
      monitoringNamespaces: ["monitoring"],
    },
    monitoring: { serviceMonitor: true, dashboard: true, labels: { release: "prometheus" } },
    ingress: {
      host: "rabbitmq.example.com",
      className: "nginx",
      tlsSecretName: "rabbitmq-example-com",
      annotations: { "nginx.ingress.kubernetes.io/backend-protocol": "HTTPS" },
    },
  },
};

describe("the manifests of a cluster", () => {
  onKubernetes((plane) => {
    for (const mode of ["statefulset", "operator"] as const) {
      for (const [label, args] of Object.entries(variants)) {
        it(`${mode}: ${label} is taken by a strict server, with restricted pods`, async () => {
          const namespace = await restrictedNamespace(plane());
          const manifests = await manifestsOf({ ...args, mode, namespace });
          const answer = await apply(plane(), manifests, "--dry-run=server");
          assert.equal(answer.trim().split("\n").length, manifests.length, answer);
          // Pod security is a matter of pods; for what makes them, the server only warns.
          assert.doesNotMatch(answer, /would violate PodSecurity/);
        });
      }
    }

    for (const mode of ["statefulset", "operator"] as const) {
      it(`${mode}: pods and volumes are made of them, and pods that are given up come again`, async () => {
        const namespace = await restrictedNamespace(plane());
        await tlsSecret(plane(), namespace, "rabbit-tls");
        await apply(
          plane(),
          await manifestsOf({ ...variants["five nodes with everything"], storage, mode, namespace }),
        );
        const pods = await until(
          () => objects<Pod>(plane(), namespace, "pods"),
          (found) => found.length === 5,
        );
        const names = pods.map(({ metadata }) => metadata.name).sort();
        const start = mode === "operator" ? "rabbit-server" : "rabbit";
        assert.deepEqual(
          names,
          [0, 1, 2, 3, 4].map((ordinal) => `${start}-${ordinal}`),
        );
        const claims = await objects<Claim>(plane(), namespace, "persistentvolumeclaims");
        assert.deepEqual(
          claims.map(({ spec }) => [spec.storageClassName, spec.resources.requests.storage]),
          names.map(() => ["fast", "20Gi"]),
        );
        // Services, budget and policy know the pods by the same labels in both modes.
        const selected = await kubectl(plane(), [
          "-n",
          namespace,
          "get",
          "pods",
          "-l",
          selectorOf("rabbit"),
          "-o",
          "name",
        ]);
        assert.equal(selected.trim().split("\n").length, 5);
        const [budget] = await objects<Budget>(plane(), namespace, "poddisruptionbudgets");
        assert.equal(budget?.spec.maxUnavailable, 1);
        await until(
          () => objects<Budget>(plane(), namespace, "poddisruptionbudgets"),
          ([found]) => found?.status?.expectedPods === 5,
        );
        await kubectl(plane(), ["-n", namespace, "delete", "pod", names[1] as string, "--force", "--grace-period=0"]);
        await until(
          () => objects<Pod>(plane(), namespace, "pods"),
          (found) => found.length === 5 && found.every(({ metadata }) => metadata.deletionTimestamp === undefined),
        );
      });
    }

    it("statefulset: volumes outlive the set, and are those of the next one", async () => {
      const namespace = await restrictedNamespace(plane());
      const manifests = await manifestsOf({ storage, namespace });
      const claims = (): Promise<Claim[]> => objects<Claim>(plane(), namespace, "persistentvolumeclaims");
      const identities = async (): Promise<string[]> =>
        (await until(claims, (found) => found.length === 3)).map(({ metadata }) => metadata.uid);
      await apply(plane(), manifests);
      const before = await identities();
      await kubectl(plane(), ["-n", namespace, "delete", "statefulset", "rabbit"]);
      await until(
        () => objects<Pod>(plane(), namespace, "pods"),
        (found) => found.length === 0,
      );
      assert.deepEqual(await identities(), before);
      await apply(plane(), manifests);
      await until(
        () => objects<Pod>(plane(), namespace, "pods"),
        (found) => found.length === 3,
      );
      assert.deepEqual(await identities(), before);
    });

    it("a field that Kubernetes doesn't know, and a pod that is not restricted, are found by this very check", async () => {
      const namespace = await restrictedNamespace(plane());
      const manifests = await manifestsOf({ storage, namespace });
      const set = manifests.find(({ kind }) => kind === "StatefulSet") as CapturedManifest & { spec: PodTemplate };
      const misspelled = { ...set, spec: { ...set.spec, replica: 3 } };
      await assert.rejects(apply(plane(), [misspelled], "--dry-run=server"), /replica/);
      const { securityContext, ...pod } = set.spec.template.spec;
      assert.ok(securityContext);
      const careless = { ...set, spec: { ...set.spec, template: { ...set.spec.template, spec: pod } } };
      assert.match(await apply(plane(), [careless], "--dry-run=server"), /would violate PodSecurity "restricted/);
    });
  });
});

interface Pod {
  metadata: { name: string; deletionTimestamp?: string };
}
interface Claim {
  metadata: { name: string; uid: string };
  spec: { storageClassName: string; resources: { requests: { storage: string } } };
}
interface Budget {
  spec: { maxUnavailable: number };
  status?: { expectedPods?: number };
}
interface PodTemplate {
  template: { spec: { securityContext?: unknown } };
}

async function manifestsOf(args: RabbitMqClusterArgs): Promise<CapturedManifest[]> {
  const { RabbitMqCluster } = await import("pulumi-rabbitmq-delay");
  return captureManifests(() => new RabbitMqCluster("rabbit", args));
}

function selectorOf(name: string): string {
  return `app.kubernetes.io/name=${name},app.kubernetes.io/component=rabbitmq`;
}

/** @returns what kubectl prints, with the server's warnings */
async function apply(plane: ControlPlane, manifests: CapturedManifest[], ...more: string[]): Promise<string> {
  return kubectl(plane, ["apply", "--server-side", "--validate=strict", ...more, "-f", fileOf(manifests)]);
}

function fileOf(manifests: CapturedManifest[]): string {
  const file = join(temporaryFolder(), "manifests.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }));
  return file;
}
