import { strict as assert } from "node:assert";
import type { PreviewStep } from "../dist/preview/preview";
import { change, judged, reviewed, step } from "./steps";

const component = "rabbitmq-delay:index:RabbitMqCluster";
const inCluster = { parent: `urn:pulumi:prod::shop::${component}::rabbit` };
const metadata = { name: "rabbit", namespace: "messaging" };
const volumes = { volumeClaimTemplates: [{ metadata: { name: "data" } }] };
const keeps = { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" } };

/** A part of a cluster under its component, as both modes make it. */
const part = (op: string, kind: string, inputs: object = { metadata }, more: object = {}): PreviewStep =>
  step(op, `${component}$kubernetes:${kind}`, `rabbit-${kind}`, inputs, { ...inCluster, ...more });
const nodes = (op: string, spec: object, more: object = {}): PreviewStep =>
  part(op, "apps/v1:StatefulSet", { metadata, spec }, more);

/** What each edit of a cluster would have cost, which was passed as "needs care" by exit code 0, or told wrong. */
const cases: [string, PreviewStep[], string, string][] = [
  [
    "the operator's resource is deleted: its volumes go",
    [part("delete", "rabbitmq.com/v1beta1:RabbitmqCluster")],
    "loss",
    "cluster-deleted",
  ],
  [
    "the operator's resource is replaced",
    [part("replace", "rabbitmq.com/v1beta1:RabbitmqCluster")],
    "loss",
    "cluster-deleted",
  ],
  [
    "the operator's resource leaves the program, and stays",
    [part("delete", "rabbitmq.com/v1beta1:RabbitmqCluster", { metadata }, { retainOnDelete: true })],
    "safe",
    "resource-kept",
  ],
  [
    "the operator's resource is replaced while it has to stay",
    [part("replace", "rabbitmq.com/v1beta1:RabbitmqCluster", { metadata }, { retainOnDelete: true })],
    "care",
    "resource-kept-and-replaced",
  ],
  ["the namespace is deleted", [part("delete", "core/v1:Namespace")], "loss", "namespace-deleted"],
  [
    "the namespace leaves the program, and stays",
    [part("delete", "core/v1:Namespace", {}, { retainOnDelete: true })],
    "safe",
    "resource-kept",
  ],
  [
    "a StatefulSet is deleted that keeps its volumes",
    [nodes("delete", { ...volumes, ...keeps })],
    "care",
    "nodes-stop",
  ],
  [
    "a StatefulSet is replaced that keeps its volumes",
    [nodes("replace", { ...volumes, ...keeps })],
    "care",
    "nodes-stop",
  ],
  ["a StatefulSet is deleted that keeps its volumes by default", [nodes("delete", volumes)], "care", "nodes-stop"],
  [
    "a StatefulSet is deleted that deletes its volumes",
    [nodes("delete", { ...volumes, persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" } })],
    "loss",
    "cluster-deleted",
  ],
  ["a StatefulSet is deleted that has no volumes", [nodes("delete", {})], "loss", "cluster-deleted"],
  [
    "a StatefulSet is deleted that can't be read",
    [part("delete", "apps/v1:StatefulSet", { spec: "[secret]" })],
    "loss",
    "cluster-deleted",
  ],
  ["a claim is deleted", [part("delete", "core/v1:PersistentVolumeClaim")], "loss", "cluster-deleted"],
  ["a Secret that the nodes need is deleted", [part("delete", "core/v1:Secret")], "loss", "cluster-secret-gone"],
  ["a Secret that the nodes need is replaced", [part("replace", "core/v1:Secret")], "loss", "cluster-secret-gone"],
  ["a Secret stays", [part("delete", "core/v1:Secret", {}, { retainOnDelete: true })], "safe", "resource-kept"],
  ["a Service is deleted", [part("delete", "core/v1:Service")], "care", "part-changed"],
  [
    "a cluster that changes restarts",
    [
      change(
        "update",
        `${component}$kubernetes:apps/v1:StatefulSet`,
        "rabbit",
        { metadata, spec: { ...volumes, replicas: 3, image: "rabbitmq:4.3.5" } },
        { metadata, spec: { ...volumes, replicas: 3, image: "rabbitmq:4.3.6" } },
        inCluster,
      ),
    ],
    "care",
    "nodes-restart",
  ],
  [
    "a cluster gets fewer nodes",
    [
      change(
        "update",
        `${component}$kubernetes:apps/v1:StatefulSet`,
        "rabbit",
        { metadata, spec: { ...volumes, replicas: 3 } },
        { metadata, spec: { ...volumes, replicas: 1 } },
        inCluster,
      ),
    ],
    "loss",
    "nodes-fewer",
  ],
  [
    "a namespace of the program's own, in which its cluster is",
    [
      step("delete", "kubernetes:core/v1:Namespace", "place", { metadata: { name: "messaging" } }),
      nodes("same", volumes),
    ],
    "loss",
    "namespace-deleted",
  ],
  [
    "a cluster of the operator's outside the components",
    [step("delete", "kubernetes:rabbitmq.com/v1beta1:RabbitmqCluster", "r", {})],
    "loss",
    "cluster-deleted",
  ],
  [
    "a chart with RabbitMQ",
    [step("delete", "kubernetes:helm.sh/v3:Release", "broker", { chart: "rabbitmq" })],
    "loss",
    "cluster-deleted",
  ],
  [
    "a container with RabbitMQ",
    [step("replace", "docker:index/container:Container", "broker", { image: "rabbitmq:4" })],
    "loss",
    "cluster-deleted",
  ],
  [
    "a broker of a cloud",
    [step("delete", "aws:mq/broker:Broker", "b", { engineType: "RabbitMQ" })],
    "loss",
    "cluster-deleted",
  ],
  [
    "a broker of a cloud whose engine is not told",
    [step("delete", "aws:mq/broker:Broker", "b", {})],
    "loss",
    "cluster-deleted",
  ],
  [
    "the definition of the operator's kind",
    [
      step("delete", "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", "d", {
        metadata: { name: "rabbitmqclusters.rabbitmq.com" },
      }),
    ],
    "loss",
    "cluster-deleted",
  ],
  [
    "a definition that is only read",
    [part("delete", "apiextensions.k8s.io/v1:CustomResourceDefinition", {}, { external: true })],
    "safe",
    "resource-kept",
  ],
  [
    "a StatefulSet of which nothing is known",
    [step("update", "kubernetes:apps/v1:StatefulSet", "s", {})],
    "care",
    "other-changed",
  ],
  ["a vhost is deleted", [step("delete", "rabbitmq:index/vHost:VHost", "v", { name: "v" })], "loss", "vhost-deleted"],
  [
    "a vhost stays",
    [step("delete", "rabbitmq:index/vHost:VHost", "v", { name: "v" }, { retainOnDelete: true })],
    "safe",
    "resource-kept",
  ],
];

describe("a review of what a broker runs on", () => {
  for (const [what, steps, verdict, rule] of cases) {
    it(`knows what it costs when ${what}`, async () => assert.deepEqual(await judged(steps), [verdict, rule]));
  }

  it("tells a cluster that stays as one that stays, and one that goes as one that goes", async () => {
    const parts = (more: object): PreviewStep[] => [
      step("delete", component, "rabbit", {}, { custom: false }),
      part("delete", "rabbitmq.com/v1beta1:RabbitmqCluster", { metadata }, more),
      part("delete", "core/v1:Secret", { metadata }, more),
    ];
    const lines = async (more: object): Promise<string[]> =>
      (await reviewed(parts(more))).changes.map(({ subject, name, predicate }) => `${subject} ${name} ${predicate}`);
    assert.deepEqual(await lines({ retainOnDelete: true }), [
      "cluster rabbit leaves the program, and stays in Kubernetes",
    ]);
    assert.deepEqual(await lines({}), ["cluster rabbit is deleted"]);
    const policy = "rabbitmq-delay:index:DelayLevelTopology$rabbitmq:index/policy:Policy";
    const parent = "urn:pulumi:prod::shop::rabbitmq-delay:index:DelayLevelTopology::delay";
    const { changes } = await reviewed([step("delete", policy, "p", { name: "p" }, { parent, retainOnDelete: true })]);
    assert.equal(changes[0]?.predicate, "1 policy let go, and kept where it is");
  });
});
