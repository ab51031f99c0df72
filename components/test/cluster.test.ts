import { strict as assert } from "node:assert";
import fc from "fast-check";
import * as pulumi from "@pulumi/pulumi";
import { BrokerCheckError } from "@rabbitmq-delay/broker";
import { imageVersion, memoryPlan } from "@rabbitmq-delay/topology/stack";
import { RabbitMqCluster } from "pulumi-rabbitmq-delay";
import type { RabbitMqClusterArgs } from "pulumi-rabbitmq-delay";
import { advancedConfig, enabledPlugins, operatorConf, rabbitmqConf } from "../dist/cluster/brokerConfig";
import { networkDashboard } from "../dist/cluster/dashboard";
import { untilReady } from "../dist/cluster/ready";
import { clusterShape } from "../dist/cluster/clusterShape";
import { preStopScript } from "../dist/cluster/statefulSet";

const least: RabbitMqClusterArgs = { namespace: "messaging", storage: { className: "fast" } };
const shapeOf = (more: Partial<RabbitMqClusterArgs> = {}): ReturnType<typeof clusterShape> =>
  clusterShape("rabbit", { ...least, ...more });

describe("a cluster's arguments", () => {
  it("have defaults for three nodes", () => {
    const { name, replicas, image, storage, memory, managementUrl, username } = shapeOf();
    assert.deepEqual(
      { name, replicas, image, storage, memory, managementUrl, username },
      {
        name: "rabbit",
        replicas: 3,
        image: "rabbitmq:4.3.6",
        storage: { className: "fast", sizeGiB: 20 },
        memory: { limitMiB: 2048, watermarkMiB: 1228, walMiB: 307 },
        managementUrl: "http://rabbit.messaging.svc:15672",
        username: "administrator",
      },
    );
  });

  const refused: [string, Partial<RabbitMqClusterArgs> & Record<string, unknown>, RegExp][] = [
    ["even replicas", { replicas: 2 }, /replicas: 2 is not allowed; it must be 1, 3 or 5/],
    ["no storage class", { storage: {} as never }, /storage.className: undefined .* must name a StorageClass/],
    ["no storage", { storage: undefined as never }, /storage.className: undefined/],
    ["a volume too small", { storage: { className: "fast", sizeGiB: 1 } }, /storage.sizeGiB: 1 .* 4 to 16384/],
    ["too little memory", { memoryMiB: 512 }, /memoryMiB: 512 .* at least 747 with a watermark of 0.6/],
    ["too little for its watermark", { memoryMiB: 1000, memoryWatermark: 0.8 }, /memoryMiB: 1000 .* at least 1281/],
    ["a watermark without room", { memoryWatermark: 0.95 }, /memoryWatermark: 0.95 .* from 0.3 to 0.8/],
    ["TLS without a certificate", { tls: {} }, /tls.secretName: undefined .* or a cert-manager issuer/],
    [
      "an issuer's kind alone",
      { tls: { secretName: "a", issuerKind: "Issuer" } },
      /tls.issuerKind: .* goes with issuer/,
    ],
    ["an old image", { image: "rabbitmq:3.13.7-management" }, /image: .* RabbitMQ 4.1 or newer/],
    ["an image without a version", { image: "rabbitmq:latest" }, /image: this text .* tag of RabbitMQ's version/],
    ["an image without a tag", { image: "registry.example.com:5000/rabbitmq" }, /image: .* tag of RabbitMQ's version/],
    [
      "a setting that follows",
      { config: { "listeners.tcp.default": "1" } },
      /config\["listeners.tcp.default"\]: "1" .* follows from tls/,
    ],
    ["a setting of two lines", { config: { "log.console.level": "info\nlisteners.tcp.1 = 1" } }, /one line of text/],
    ["a user name that is mangled", { username: "a b" }, /username: this text .* letters, digits and/],
    [
      "a password that is mangled",
      { password: "sixteen characters #1" },
      /password: "21 characters" .* 16 to 200 letters/,
    ],
    ["a short cookie", { erlangCookie: "abc" }, /erlangCookie: "3 characters" .* 20 to 200/],
    ["an unknown mode", { mode: "helm" as never }, /mode: "helm" .* statefulset, operator/],
    ["no namespace", { namespace: undefined as never }, /namespace: undefined .* Kubernetes namespace/],
    ["a name too long", { clusterName: "a".repeat(41) }, /clusterName: .* 1 to 40 characters/],
    ["an address that is none", { managementUrl: "localhost:15671" }, /managementUrl: .* http or https address/],
    [
      "an ingress without TLS",
      { ingress: { host: "a.example.com", className: "nginx" } as never },
      /ingress.tlsSecretName/,
    ],
    ["the archived plugin", { plugins: ["rabbitmq_delayed_message_exchange"] }, /plugins: .* archived/],
    ["a prefetch of nothing", { deadLetterPrefetch: 0 }, /deadLetterPrefetch: 0 .* from 1 to 10000/],
    ["an unknown removal", { removal: "keep" as never }, /removal: "keep" .* retain, delete/],
  ];
  for (const [label, args, message] of refused) {
    it(`${label} is refused before anything is made`, async () => {
      const made: string[] = [];
      const newResource = ({ name, inputs }: pulumi.runtime.MockResourceArgs): { id: string; state: object } => {
        made.push(name);
        return { id: name, state: inputs as object };
      };
      await pulumi.runtime.setMocks({ newResource, call: () => ({}) }, "project", "stack", false);
      assert.throws(() => new RabbitMqCluster("rabbit", { ...least, ...args }), message);
      await pulumi.runtime.disconnect();
      assert.deepEqual(made, []);
    });
  }

  it("an image may have a registry, a suffix and a digest", () => {
    assert.equal(imageVersion("rabbitmq:4.3.6"), "4.3.6");
    assert.equal(imageVersion("registry.example.com:5000/mirror/rabbitmq:4.3.5-management-alpine"), "4.3.5");
    assert.equal(imageVersion(`rabbitmq:4.3.6@sha256:${"0".repeat(64)}`), "4.3.6");
  });

  it("memory always has room on both sides of the watermark, and four logs below it", () => {
    const watermarks = fc.double({ min: 0.3, max: 0.8, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200_000 }), watermarks, (limitMiB, watermark) => {
        let plan;
        try {
          plan = memoryPlan(limitMiB, watermark);
        } catch (error) {
          const needed = Number(/at least (\d+)/.exec((error as Error).message)?.[1]);
          assert.ok(limitMiB < needed);
          assert.doesNotThrow(() => memoryPlan(needed, watermark));
          return;
        }
        assert.ok(plan.watermarkMiB >= 447 && plan.limitMiB - plan.watermarkMiB >= 256);
        assert.ok(plan.walMiB * 4 <= plan.watermarkMiB && plan.walMiB <= 512 && plan.walMiB > 100);
      }),
    );
  });
});

describe("a cluster's configuration", () => {
  const settings = (text: string): Map<string, string> =>
    new Map(
      text
        .trim()
        .split("\n")
        .map((line) => line.split(" = ") as [string, string]),
    );

  it("listens with TLS alone where there is TLS", () => {
    const plain = settings(rabbitmqConf(shapeOf()));
    const encrypted = settings(rabbitmqConf(shapeOf({ tls: { secretName: "certificate" } })));
    assert.equal(plain.get("listeners.tcp.default"), "5672");
    assert.equal(encrypted.get("listeners.tcp"), "none");
    assert.equal(encrypted.get("listeners.ssl.default"), "5671");
    assert.deepEqual(
      [...encrypted.keys()].filter((key) => /tcp\.(port|default)/.test(key)),
      [],
    );
  });

  it("has each key once, the user's own last", () => {
    const text = rabbitmqConf(
      shapeOf({ config: { queue_leader_locator: "client-local", "log.console.level": "debug" } }),
    );
    const keys = text
      .trim()
      .split("\n")
      .map((line) => line.split(" = ")[0]);
    assert.equal(new Set(keys).size, keys.length);
    assert.match(text, /^queue_leader_locator = client-local$/m);
    assert.match(text, /log\.console\.level = debug\n$/);
  });

  it("leaves to the operator what it writes itself", () => {
    const text = operatorConf(shapeOf({ mode: "operator" }));
    assert.doesNotMatch(text, /cluster_formation|cluster_name|listeners|ssl_options/);
    assert.match(text, /^vm_memory_high_watermark\.absolute = 1287651328$/m);
  });

  it("has plugins and the dead-letter worker's prefetch in Erlang's terms", () => {
    const shape = shapeOf({ plugins: ["rabbitmq_shovel", "rabbitmq_management"], deadLetterPrefetch: 500 });
    assert.equal(
      enabledPlugins(shape),
      "[rabbitmq_management,rabbitmq_peer_discovery_k8s,rabbitmq_prometheus,rabbitmq_shovel].\n",
    );
    assert.equal(advancedConfig(shape), "[{rabbit, [{dead_letter_worker_consumer_prefetch, 500}]}].\n");
  });

  it("a single node waits for nobody when it ends", () => {
    assert.doesNotMatch(preStopScript(shapeOf({ replicas: 1 })), /quorum/);
    assert.match(preStopScript(shapeOf()), /await_online_quorum_plus_one -t 3600; rabbitmq-upgrade -q drain$/);
  });

  it("a certificate has every name that somebody connects to", () => {
    const { tls } = shapeOf({ tls: { issuer: "authority" }, managementUrl: "https://rabbit.example.com:15671/" });
    for (const name of ["rabbit.messaging.svc", "localhost", "*.rabbit-nodes.messaging.svc", "rabbit.example.com"]) {
      assert.ok(tls?.dnsNames.includes(name), name);
    }
  });

  it("the dashboard's panels lie beside each other, none over another", () => {
    const { panels } = networkDashboard() as { panels: { gridPos: { x: number; y: number; w: number; h: number } }[] };
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    assert.equal(new Set(cells).size, cells.length);
  });
});

describe("waiting for a cluster", () => {
  it("ends with what was missing and how to reach it", async () => {
    const broker = { managementUrl: "http://127.0.0.1:9", username: "administrator", password: "secret" };
    const waiting = untilReady({ broker, nodes: 3, limitMs: 50, remedy: "try a port-forward" }, () => undefined);
    await assert.rejects(waiting, (error: Error) => {
      assert.ok(error instanceof BrokerCheckError);
      assert.match(error.message, /127\.0\.0\.1:9 is not ready after \d+ s: no answer .*; try a port-forward$/);
      return true;
    });
  });
});
