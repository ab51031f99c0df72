import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { DelayGateway, DelayedMessageStore, RabbitMqCluster } from "pulumi-rabbitmq-delay";
import type { RabbitMqClusterArgs } from "pulumi-rabbitmq-delay";
import { checkText } from "../dist/checks";
import { RELEASE } from "../dist/cluster/makeObject";
import { versions } from "../../toolchain/dist/versions";

/** What a stack has in its state of an object: another type or name would be another object, other inputs a change. */
interface Registered {
  type: string;
  name: string;
  inputs: unknown;
}

const file = join(__dirname, "kubernetesObjects.snapshot.json");

const cluster: RabbitMqClusterArgs = {
  namespace: "messaging",
  createNamespace: true,
  storage: { className: "fast" },
  tls: { issuer: "authority" },
  access: { clientNamespaces: ["services"] },
  monitoring: { serviceMonitor: true, dashboard: true },
  ingress: { host: "rabbitmq.example.com", className: "nginx", tlsSecretName: "rabbitmq-example-com" },
};
const deployment = {
  namespace: "messaging",
  image: "store:1.0",
  amqpUrl: "amqps://rabbit.messaging.svc:5671",
  databaseSecret: "database",
  caSecret: "authority",
};

const programs: Record<string, () => unknown> = {
  "a StatefulSet": () => new RabbitMqCluster("rabbit", cluster),
  "the operator's cluster": () =>
    new RabbitMqCluster("rabbit", { namespace: "messaging", storage: { className: "fast" }, mode: "operator" }),
  "a store's process": () =>
    new DelayedMessageStore("store", { user: "later", credentials: [{ password: "the password" }], deployment }),
  "a gateway's process": () =>
    new DelayGateway("gateway", {
      network: delayNetwork({ preset: "custom", prefix: "orders" }),
      user: "gateway",
      credentials: [{ password: "the password" }],
      deployment: { namespace: "messaging", image: "gateway:1.0", amqpUrl: "amqps://rabbit.messaging.svc:5671" },
    }),
};

describe("objects on Kubernetes", () => {
  for (const [label, program] of Object.entries(programs)) {
    it(`of stacks that exist stay as they are: ${label}`, async () => {
      const made = await registered(program);
      const snapshots = JSON.parse(readFileSync(file, "utf8")) as Record<string, Registered[]>;
      if (process.env.UPDATE_SNAPSHOTS === "1") {
        snapshots[label] = made;
        writeFileSync(file, `${JSON.stringify(snapshots, undefined, 2)}\n`);
      }
      assert.deepEqual(made, snapshots[label]);
    });
  }

  it("have labels and annotations that are known later, which are checked then", async () => {
    const given = (text: pulumi.Output<string>): RabbitMqClusterArgs => ({
      ...cluster,
      monitoring: { ...cluster.monitoring, labels: { release: text, team: "orders" } },
      ingress: { ...(cluster.ingress as NonNullable<typeof cluster.ingress>), annotations: { "example.com/a": text } },
    });
    const made = await registered(() => new RabbitMqCluster("rabbit", given(pulumi.output("prometheus"))));
    const metadataOf = (type: string): { labels: object; annotations?: object } => {
      const found = made.find((one) => one.type.endsWith(type));
      return (found?.inputs as { metadata: { labels: object; annotations?: object } }).metadata;
    };
    for (const type of [":ServiceMonitor", ":ConfigMap"]) {
      const { labels } = metadataOf(type) as { labels: Record<string, string> };
      if (type === ":ServiceMonitor" || "grafana_dashboard" in labels)
        assert.deepEqual([labels.release, labels.team], ["prometheus", "orders"]);
    }
    assert.deepEqual(metadataOf(":Ingress").annotations, { "example.com/a": "prometheus" });
    assert.throws(
      () => checkText("ingress.annotations.a", 7),
      /^DelayTopologyError: ingress\.annotations\.a: this number /,
    );
  });

  it("are made by the version of the library whose plugin the tests have", () => {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- data
    const { version } = require("@pulumi/kubernetes/package.json") as { version: string };
    assert.equal(version, versions.kubernetesProvider);
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- data
    const { peerDependencies } = require("../package.json") as { peerDependencies: Record<string, string> };
    assert.equal(peerDependencies["@pulumi/kubernetes"], RELEASE);
    assert.equal(RELEASE, `^${version}`);
  });
});

/** What a program has made on Kubernetes, in the order of types and names; definitions that it looks up have no inputs. */
async function registered(program: () => unknown): Promise<Registered[]> {
  const found: Registered[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, id }) => {
        if (type.startsWith("kubernetes:")) found.push({ type, name, inputs: id ? {} : readable(inputs) });
        return { id: id || `${name}-id`, state: { ...(inputs as object), result: "a".repeat(48) } };
      },
      call: () => ({}),
    },
    "project",
    "stack",
    true,
  );
  program();
  await pulumi.runtime.disconnect();
  const place = ({ type, name }: Registered): string => `${type} ${name}`;
  return found.sort((one, other) => (place(one) < place(other) ? -1 : 1));
}

/** Without the wrapping that the SDK gives to secrets, and with a hash for what is too long to be read. */
function readable(inputs: unknown): unknown {
  return JSON.parse(JSON.stringify(inputs), (_, value: unknown) => {
    if (typeof value === "string" && value.length > LONGEST_TEXT)
      return createHash("sha256").update(value).digest("hex");
    return typeof value === "object" && value !== null && SECRET_SIGNATURE in value && "value" in value
      ? value.value
      : value;
  });
}

const LONGEST_TEXT = 200;
/** Source: pulumi/sdk/nodejs/runtime/rpc.ts. */
const SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d";
