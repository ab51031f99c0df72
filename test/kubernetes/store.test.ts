import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fetch } from "undici";
import type { DelayedMessageStoreArgs } from "pulumi-rabbitmq-delay";
import { delayedStore, planDelayedStore } from "@rabbitmq-delay/topology";
import { planStoreAccess } from "@rabbitmq-delay/topology/stack";
import { kubectl } from "../../toolchain/dist/controlPlane";
import { root } from "../../toolchain/dist/paths";
import { freePort } from "../../toolchain/dist/ports";
import { onEachBroker } from "../support/brokers";
import { CapturedManifest, captureManifests } from "../support/capture";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { objects, onKubernetes, restrictedNamespace, until } from "../support/controlPlanes";
import { declareOverAmqp } from "../support/declare";
import { temporaryFolder } from "../support/temporaryFolder";

const least = {
  user: "later",
  credentials: [{ password: "a password of tests" }],
  deployment: {
    namespace: "messaging",
    image: "store:1",
    amqpUrl: "amqps://rabbitmq.messaging.svc:5671",
    databaseSecret: "db",
  },
};

async function manifestsOf(args: DelayedMessageStoreArgs): Promise<CapturedManifest[]> {
  const { DelayedMessageStore } = await import("pulumi-rabbitmq-delay");
  return captureManifests(() => new DelayedMessageStore("store", args));
}

describe("the store's process on Kubernetes", () => {
  it("what it can't run with is refused", async () => {
    const { DelayedMessageStore } = await import("pulumi-rabbitmq-delay");
    const refuses = (change: object, message: RegExp): void =>
      assert.throws(
        () => new DelayedMessageStore("x", { ...least, deployment: { ...least.deployment, ...change } }),
        (error: Error) => message.test(error.message),
      );
    refuses({ image: "store" }, /^deployment\.image: this text is not allowed; .* with a tag/);
    refuses({ replicas: 0 }, /^deployment\.replicas: 0 .* 1 to 10/);
    refuses({ memoryMiB: 64 }, /^deployment\.memoryMiB: 64 .* from 256 to 65536/);
    refuses({ databaseSecret: undefined }, /^deployment\.databaseSecret: undefined/);
    refuses({ amqpUrl: "amqp://guest:guest@host" }, /^deployment\.amqpUrl: .* without a user/);
    assert.throws(
      () => new DelayedMessageStore("x", { deployment: least.deployment }),
      /user: undefined .* needs the store's user/,
    );
  });

  it("another forward or another login makes new pods; the old ones would send messages elsewhere, or nowhere", async () => {
    const podsOf = async (change: object): Promise<string> => {
      const manifests = await manifestsOf({ ...least, ...change } as DelayedMessageStoreArgs);
      const deployment = manifests.find(({ kind }) => kind === "Deployment") as unknown as {
        spec: { template: { metadata: { annotations: Record<string, string> } } };
      };
      return JSON.stringify(deployment.spec.template);
    };
    const before = await podsOf({});
    assert.equal(await podsOf({}), before, "nothing changed");
    const others = [
      { forwards: [{ exchange: "orders.delayed", delivery: "orders" }] },
      { toQueues: false, exchanges: ["events"] },
      { credentials: [{ password: "another password" }] },
      { vhost: "orders" },
      { deployment: { ...least.deployment, amqpUrl: "amqps://elsewhere:5671" } },
    ];
    const all = new Set([before]);
    for (const change of others) all.add(await podsOf(change));
    assert.equal(all.size, others.length + 1);
    const password = "a password of tests";
    const { user, deployment } = least;
    const url = `amqps://${user}:${encodeURIComponent(password)}@rabbitmq.messaging.svc:5671/%2F`;
    for (const text of all) {
      assert.ok(!text.includes(encodeURIComponent(password)));
      // Nothing that can be computed from a guessed password.
      for (const guess of [password, url, deployment.amqpUrl]) {
        for (const algorithm of ["sha1", "sha256", "sha512", "md5"]) {
          assert.ok(!text.includes(createHash(algorithm).update(guess).digest("hex")));
        }
      }
    }
  });

  onEachBroker((broker) => {
    it("its command, its variables and its files are what the process starts with, and its probes find it", async () => {
      const vhost = await broker().management.createVhost();
      const { host } = new URL(broker().node.amqpUrl);
      const amqpUrl = `amqp://${host}`;
      const store = delayedStore({});
      await declareOverAmqp(await openChannel(broker(), vhost), planDelayedStore(store));
      const user = `later-${randomUUID().slice(0, 8)}`;
      await broker().management.call("PUT", `users/${user}`, { password: "a password of tests", tags: "" });
      const { configure, write, read } = planStoreAccess(store);
      await broker().management.call("PUT", `permissions/${vhost}/${user}`, { configure, write, read });

      const manifests = await manifestsOf({ ...least, user, vhost, deployment: { ...least.deployment, amqpUrl } });
      const find = <T>(kind: string): T => manifests.find((manifest) => manifest.kind === kind) as T;
      const [container] = find<{ spec: { template: { spec: { containers: [Container] } } } }>("Deployment").spec
        .template.spec.containers;
      const folder = temporaryFolder();
      for (const [name, text] of Object.entries(find<{ data: Record<string, string> }>("ConfigMap").data)) {
        writeFileSync(join(folder, name), text);
      }
      const port = await freePort();
      const args = [...container.command.slice(1), ...container.args].map((text) =>
        text.replace("/etc/delayed-store", folder).replace("0.0.0.0:9478", `127.0.0.1:${port}`),
      );
      const child = spawn(process.execPath, [join(root, "packages", "cli", "bin", "rabbitmq-delay.js"), ...args], {
        stdio: "ignore",
        env: {
          PATH: process.env.PATH,
          ...Object.fromEntries(
            container.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
          ),
          ...find<{ stringData: Record<string, string> }>("Secret").stringData,
          RABBITMQ_DELAY_STORE: `sqlite:${join(folder, "delayed.db")}`,
        },
      });
      const ended = new Promise((resolve) => child.once("exit", resolve));
      afterThisTest(() => void child.kill("SIGKILL"));
      for (const probe of [container.readinessProbe, container.livenessProbe]) {
        await until(
          () =>
            fetch(`http://127.0.0.1:${port}${probe.httpGet.path}`).then(
              ({ status }) => status,
              () => 0,
            ),
          (status) => status === 200,
        );
      }
      child.kill("SIGTERM");
      assert.equal(await ended, 0);
    });
  });

  onKubernetes((plane) => {
    it("is taken by a strict server, its pods are restricted, and its address has its login", async () => {
      const namespace = await restrictedNamespace(plane());
      const deployment = { ...least.deployment, namespace, caSecret: "authority" };
      const manifests = await manifestsOf({ ...least, deployment, vhost: "orders" });
      assert.deepEqual(manifests.map(({ kind }) => kind).sort(), [
        "ConfigMap",
        "Deployment",
        "PodDisruptionBudget",
        "Secret",
      ]);
      const secret = manifests.find(({ kind }) => kind === "Secret") as unknown as {
        stringData: { RABBITMQ_URL: string };
      };
      assert.equal(
        secret.stringData.RABBITMQ_URL,
        "amqps://later:a%20password%20of%20tests@rabbitmq.messaging.svc:5671/orders",
      );
      const file = join(temporaryFolder(), "manifests.json");
      writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }));
      const answer = await kubectl(plane(), ["apply", "--server-side", "--validate=strict", "-f", file]);
      assert.doesNotMatch(answer, /would violate PodSecurity/);
      await until(
        () => objects(plane(), namespace, "pods"),
        (pods) => pods.length === 2,
      );
    });
  });
});

interface Container {
  command: string[];
  args: string[];
  env: { name: string; value?: string }[];
  readinessProbe: { httpGet: { path: string } };
  livenessProbe: { httpGet: { path: string } };
}
