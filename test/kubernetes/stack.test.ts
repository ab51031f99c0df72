import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { startControlPlane, stopControlPlane } from "../../toolchain/dist/controlPlane";
import { findKubernetes } from "../../toolchain/dist/kubernetesPrograms";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { kubernetesOf, objects, onKubernetes, restrictedNamespace, tlsSecret } from "../support/controlPlanes";
import { StackConfig, TestStack } from "../support/stack";

const network = { preset: "custom", prefix: "orders", radix: 4, levels: 3, unitMs: 10 };
const password = "a-password-of-the-tests";

interface Named {
  metadata: { name: string; uid: string };
}
interface Secret extends Named {
  data: Record<string, string>;
}

/** No pod runs here, so an existing broker of one node stands for the cluster's; all else is the program's own. */
describe("a stack with its cluster", () => {
  onKubernetes((plane) => {
    onEachBroker((broker, { isNewest }) => {
      // A cluster's image is 4.1 or newer, and its stack declares for that version.
      if (!isNewest) return;
      const storeUser = `later-${randomUUID().slice(0, 8)}`;
      let namespace: string;
      let stack: TestStack;

      beforeEach(async () => {
        namespace = await restrictedNamespace(plane());
        stack = await TestStack.create(broker(), `test-${randomUUID()}`);
        stack.extend(...(await kubernetesOf(plane())));
        afterThisTest(() =>
          broker()
            .management.deleteVhost(stack.vhost)
            .catch(() => undefined),
        );
      });

      const configOf = (more: Record<string, unknown> = {}): StackConfig => ({
        network,
        createVhost: true,
        endpoints: [{ name: "Billing", createQueue: true }],
        cluster: {
          namespace,
          replicas: 1,
          storage: { className: "fast" },
          managementUrl: broker().node.managementUrl,
          username: "cluster-administrator",
          ...more,
        },
      });

      it("makes the cluster, waits for it, and declares in a vhost of its own; again, nothing changes", async () => {
        await broker().management.call("PUT", "users/cluster-administrator", { password, tags: "administrator" });
        stack.configure({
          ...configOf(),
          brokerPassword: password,
          delayedStore: { user: storeUser, deployment: { namespace, image: "store:1", databaseSecret: "database" } },
          storePassword: "the password of the store",
        });
        const first = await stack.preview();
        assert.ok(first.every(({ op }) => op === "create"));
        await stack.up();
        assert.deepEqual(await stack.preview("--refresh"), []);

        const sets = await objects<Named>(plane(), namespace, "statefulsets");
        assert.deepEqual(
          sets.map(({ metadata }) => metadata.name),
          ["rabbitmq"],
        );
        const queues = (await broker().management.queues(stack.vhost)).map(({ name }) => name);
        assert.ok(queues.includes("Billing") && queues.includes("orders.r4x3u10.level-00-1"));
        const { amqpUrl } = await stack.outputs();
        assert.equal(amqpUrl, `amqp://rabbitmq.${namespace}.svc:5672`);
        const login = (await objects<Secret>(plane(), namespace, "secrets")).find(
          ({ data }) => data.RABBITMQ_URL !== undefined,
        );
        assert.equal(
          Buffer.from(login?.data.RABBITMQ_URL ?? "", "base64").toString(),
          `amqp://${storeUser}:the%20password%20of%20the%20store@rabbitmq.${namespace}.svc:5672/${stack.vhost}`,
        );
        assert.equal((await objects(plane(), namespace, "deployments")).length, 1);

        await stack.destroy();
        assert.deepEqual(await objects(plane(), namespace, "statefulsets"), []);
        const vhosts = await broker().management.get<{ name: string }[]>("vhosts");
        assert.ok(!vhosts.some(({ name }) => name === stack.vhost));
        const claims = await objects<Named>(plane(), namespace, "persistentvolumeclaims");
        assert.deepEqual(
          claims.map(({ metadata }) => metadata.name),
          ["data-rabbitmq-0"],
        );
      });

      it("generates its secrets once, and nothing of them is in the state that a reader can read", async () => {
        stack.configure(configOf({ readyTimeoutSeconds: 1, managementUrl: "http://127.0.0.1:9" }));
        const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
        assert.notEqual(code, 0);
        assert.match(
          output,
          /managementUrl: http:\/\/127\.0\.0\.1:9 is not ready after \d+ s: no answer .* port-forward/,
        );
        const secretOf = async (name: string): Promise<Record<string, string>> => {
          const found = (await objects<Secret>(plane(), namespace, "secrets")).find(
            (one) => one.metadata.name === name,
          );
          return Object.fromEntries(
            Object.entries(found?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
          );
        };
        const user = await secretOf("rabbitmq-default-user");
        const cookie = (await secretOf("rabbitmq-erlang-cookie"))[".erlang.cookie"] as string;
        assert.match(user.password as string, /^[A-Za-z0-9]{48}$/);
        assert.match(cookie, /^[A-Za-z0-9]{48}$/);
        assert.equal(
          user["default_user.conf"],
          `default_user = cluster-administrator\ndefault_pass = ${user.password}\n`,
        );
        const state = readFileSync(stack.stateFile, "utf8");
        assert.ok(state.includes("rabbitmq-default-user"));
        for (const secret of [user.password as string, cookie, Buffer.from(cookie).toString("base64")]) {
          assert.ok(!state.includes(secret) && !output.includes(secret));
        }

        await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
        assert.deepEqual(await secretOf("rabbitmq-default-user"), user);
      });

      it("a preview of staging shows the cluster with its topology", async () => {
        await tlsSecret(plane(), namespace, "rabbitmq-tls");
        stack.configureFrom("Pulumi.staging.yaml");
        const { output } = await stack.previewAsText();
        for (const expected of [
          /rabbitmq-delay:index:RabbitMqCluster\s+rabbitmq\s+create/,
          /kubernetes:apps\/v1:StatefulSet\s+rabbitmq-StatefulSet-rabbitmq\s+create/,
          /kubernetes:cert-manager\.io\/v1:Certificate\s.*create/,
          /rabbitmq:index:VHost\s+vhost\s+create/,
          /rabbitmq-delay:index:DelayLevelTopology\s+delay\s+create/,
          /rabbitmq:index:Queue\s+delay-orders\.r4x\d+u1000\.level-00-1\s+create/,
          /rabbitmq-delay:index:EndpointDelayBinding\s+Billing\s+create/,
        ]) {
          assert.match(output, expected);
        }
      });
    });
  });

  onEachBroker((broker, { isNewest }) => {
    if (!isNewest) return;

    it("without the operator, a preview says which definition is missing", async function () {
      const bare = await startControlPlane(await findKubernetes(() => undefined));
      afterThisTest(() => stopControlPlane(bare));
      const stack = await TestStack.create(broker(), "orders");
      stack.extend(...(await kubernetesOf(bare)));
      stack.configure({
        network,
        cluster: { namespace: "default", mode: "operator", storage: { className: "fast" } },
      });
      const { code, output } = await stack.run(["preview", "--stack", "test"]);
      assert.notEqual(code, 0);
      assert.match(output, /rabbitmq-needs-rabbitmq-cluster-operator/);
      assert.match(output, /rabbitmqclusters\.rabbitmq\.com.* does not exist/);
    });
  });
});
