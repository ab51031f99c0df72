import { strict as assert } from "node:assert";
import { join } from "node:path";
import { Finding, renderMarkdown } from "@rabbitmq-delay/review";
import { kubectl } from "../../toolchain/dist/controlPlane";
import { onEachBroker } from "../support/brokers";
import { kubernetesOf, objects, onKubernetes, restrictedNamespace } from "../support/controlPlanes";
import { TestStack } from "../support/stack";
import { wayOut } from "../support/waysOut";

const password = "a-password-of-the-tests";

interface Named {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
}

/** No pod runs here, so an existing broker stands for each cluster's. */
describe("the way out that a review prints of a cluster", () => {
  onKubernetes((plane) => {
    onEachBroker((broker, { isNewest }) => {
      if (!isNewest) return;

      it("keeps the cluster, its Secrets and its namespace, and Secrets that were taken out make the same cluster", async () => {
        const { management, node } = broker();
        await management.call("PUT", "users/cluster-administrator", { password, tags: "administrator" });
        const [namespace, own] = [await restrictedNamespace(plane()), await restrictedNamespace(plane())];
        const vhost = await management.createVhost();
        const parts = join(__dirname, "..", "engine", "programs", "parts");
        const stack = await TestStack.create(broker(), vhost, parts);
        stack.extend(...(await kubernetesOf(plane())));
        const cluster = (name: string, more: object): object => {
          const login = { managementUrl: node.managementUrl, username: "cluster-administrator", password };
          const args = { namespace, replicas: 1, storage: { className: "fast" }, ...login, ...more };
          return { type: "RabbitMqCluster", name, args };
        };
        const declared = (removal: "delete" | "retain"): object[] => [
          {
            type: "Namespace",
            name: "own",
            args: { metadata: { name: own } },
            opts: { retainOnDelete: removal === "retain" },
          },
          cluster("nodes", { namespace: own, removal }),
          cluster("operated", { mode: "operator", removal }),
        ];
        const declare = (...made: object[]): void => stack.configure({ network: { parts: made } });
        const taken = (more: object = {}): object => cluster("taken", { removal: "delete", ...more });
        const secretOf = async (name: string, key: string): Promise<string> => {
          const path = `jsonpath={.data.${key.replaceAll(".", "\\.")}}`;
          const data = await kubectl(plane(), ["-n", namespace, "get", "secret", `taken-${name}`, "-o", path]);
          return Buffer.from(data, "base64").toString();
        };
        const secrets = async (): Promise<{ password: string; erlangCookie: string }> => ({
          password: await secretOf("default-user", "password"),
          erlangCookie: await secretOf("erlang-cookie", ".erlang.cookie"),
        });
        const idsOf = async (): Promise<string[]> => {
          const found = [
            ...(await objects<Named>(plane(), own, "statefulsets,secrets")),
            ...(await objects<Named>(plane(), namespace, "rabbitmqclusters")),
          ];
          return found.map(({ metadata: { name, uid } }) => `${name} ${uid}`).sort();
        };
        declare(...declared("delete"), taken());
        await stack.up();
        const ids = await idsOf();
        assert.equal(ids.length, 4, ids.join("\n"));

        declare();
        const { report, output } = await stack.review();
        assert.ok(report, output);
        const told = (rule: Finding["rule"], name: string): string => {
          const finding = report.findings.find((one) => one.rule === rule && one.urn.includes(`::${name}`));
          assert.ok(finding, `${rule} ${name}\n${output}`);
          return renderMarkdown({ ...report, findings: [finding] }, "test");
        };
        assert.match(told("namespace-deleted", "own"), wayOut("review-retain-namespace"));
        assert.match(told("cluster-deleted", "operated"), wayOut("review-retain-cluster"));
        assert.match(told("cluster-secret-gone", "nodes"), wayOut("review-retain-secrets"));
        assert.match(told("cluster-secret-gone", "taken"), wayOut("review-take-secrets-out"));

        declare(...declared("retain"), taken());
        await stack.up();
        const out = await secrets();
        declare();
        await stack.up();
        assert.deepEqual(await idsOf(), ids);
        const namespaces = JSON.parse(await kubectl(plane(), ["get", "namespace", own, "-o", "json"])) as Named;
        assert.equal(namespaces.metadata.deletionTimestamp, undefined);
        await assert.rejects(secrets(), /not found/);
        declare(taken(out));
        await stack.up();
        assert.deepEqual(await secrets(), out);
      });
    });
  });
});
