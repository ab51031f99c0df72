import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { kubectl } from "../../toolchain/dist/controlPlane";
import { captureManifests } from "../support/capture";
import { afterThisTest } from "../support/cleanup";
import { objects, onKubernetes, restrictedNamespace, tlsSecret, until } from "../support/controlPlanes";
import { startPodCluster, withPods } from "../support/pods/cluster";
import { temporaryFolder } from "../support/temporaryFolder";

interface ConfigMap {
  metadata: { name: string };
  data: Record<string, string>;
}

describe("what the operator makes of a cluster", () => {
  onKubernetes((plane) => {
    withPods(() => {
      it("boots a node: its own settings, ours after them, our plugins and our user", async () => {
        const namespace = await restrictedNamespace(plane());
        await tlsSecret(plane(), namespace, "certificate");
        const { RabbitMqCluster } = await import("pulumi-rabbitmq-delay");
        const args = {
          namespace,
          mode: "operator",
          storage: { className: "fast" },
          tls: { secretName: "certificate" },
        } as const;
        const manifests = await captureManifests(() => new RabbitMqCluster("rabbit", { ...args, replicas: 1 }));
        const file = join(temporaryFolder(), "manifests.json");
        writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }));
        await kubectl(plane(), ["apply", "--server-side", "--validate=strict", "-f", file]);
        const maps = await until(
          () => objects<ConfigMap>(plane(), namespace, "configmaps"),
          (found) => found.some(({ data }) => data?.["userDefinedConfiguration.conf"] !== undefined),
        );
        const conf = maps.find(({ data }) => data?.["userDefinedConfiguration.conf"] !== undefined)
          ?.data as ConfigMap["data"];
        const plugins = maps.find(({ data }) => data?.enabled_plugins !== undefined)?.data.enabled_plugins as string;

        // The operator's files in the place of ours, in the order in which its pods read them.
        const cluster = await startPodCluster(temporaryFolder(), { replicas: 1 }, (own) => {
          const map = own.find(({ kind }) => kind === "ConfigMap") as unknown as ConfigMap;
          const user = own.find(({ metadata }) => metadata.name === "rabbit-default-user") as unknown as {
            stringData: { "default_user.conf": string };
          };
          map.data["rabbitmq.conf"] = conf["operatorDefaults.conf"] as string;
          map.data["advanced.config"] = conf["advanced.config"] as string;
          map.data.enabled_plugins = plugins;
          user.stringData["default_user.conf"] += conf["userDefinedConfiguration.conf"] as string;
        });
        afterThisTest(() => cluster.pods.remove());
        const evaluate = (expression: string): Promise<string> =>
          cluster.pods.exec(0, ["rabbitmqctl", "-q", "eval", expression]);
        assert.equal((await evaluate("vm_memory_monitor:get_memory_limit().")).trim(), String(1228 * 1024 * 1024));
        assert.match(
          await evaluate("application:get_env(rabbit, dead_letter_worker_consumer_prefetch)."),
          /\{ok,256\}/,
        );
        const enabled = await cluster.pods.exec(0, ["rabbitmq-plugins", "-q", "list", "--enabled", "--minimal"]);
        assert.match(enabled, /^rabbitmq_management$/m);
      });
    });
  });
});
