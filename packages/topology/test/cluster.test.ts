import { strict as assert } from "node:assert";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { readCluster, readGatewayDeployment, readStoreDeployment } from "@rabbitmq-delay/topology/stack";

const least = { namespace: "messaging", storage: { className: "fast" } };
const process = { namespace: "messaging", image: "store:1.0", amqpUrl: "amqps://rabbit:5671" };

function refuses(read: () => unknown, message: RegExp): void {
  assert.throws(read, (error: Error) => {
    assert.ok(error instanceof DelayTopologyError, error.stack);
    assert.match(error.message, message);
    return true;
  });
}

describe("a cluster's options", () => {
  it("have defaults, also where they are null", () => {
    const { replicas, memoryMiB, storage, tls, plugins } = readCluster({ ...least, replicas: null, tls: null });
    const usual = { replicas: 3, memoryMiB: 2048, storage: { className: "fast", sizeGiB: 20 }, plugins: [] };
    assert.deepEqual({ replicas, memoryMiB, storage, plugins, tls }, { ...usual, tls: undefined });
  });

  const refusals: [string, object, RegExp][] = [
    ["nothing", { namespace: undefined }, /^namespace: undefined is not allowed; it must be the name of a Kubernetes/],
    ["a misspelled property", { tlss: {} }, /^tlss: .*; did you mean tls\?$/],
    [
      "a misspelled property of a part",
      { storage: { className: "fast", sizeGib: 5 } },
      /^storage\.sizeGib: unknown property; known properties are className, sizeGiB; did you mean sizeGiB\?$/,
    ],
    [
      "a misspelled namespace list",
      { access: { clientNamespace: [] } },
      /^access\.clientNamespace: .*did you mean clientNamespaces\?$/,
    ],
    [
      "a part that is none",
      { storage: "fast" },
      /^storage: this text is not allowed; it must be an object with some of/,
    ],
    ["a part that is missing", { storage: undefined }, /^storage\.className: undefined .* it must name a StorageClass/],
    ["a list that is none", { plugins: "rabbitmq_shovel" }, /^plugins: this text is not allowed; it must be a list$/],
    ["a plugin that is none", { plugins: ["a-b"] }, /^plugins\[0\]: "a-b" .* it must be a plugin's name/],
    ["a flag that is none", { createNamespace: "yes" }, /^createNamespace: this text .* true or false$/],
    [
      "a host that is none",
      { tls: { issuer: "a", dnsNames: ["a b"] } },
      /^tls\.dnsNames\[0\]: this text .* a host name$/,
    ],
    [
      "an issuer's kind",
      { tls: { issuer: "a", issuerKind: "Kind" } },
      /^tls\.issuerKind: "Kind" .*ClusterIssuer, Issuer$/,
    ],
    ["processors without quotes", { cpu: 2 }, /^cpu: this number is not allowed; .* 500m; put quotes around it, /],
    ["a name without quotes", { namespace: 2024 }, /^namespace: this number .* namespace; put quotes around it, /],
    ["processors in another unit", { cpu: "two" }, /^cpu: this text is not allowed; it must be a number of processors/],
    [
      "a label that is no text",
      { monitoring: { labels: { team: 1 } } },
      /^monitoring\.labels\.team: this number .* a text; put quotes around it, so that it is a text$/,
    ],
    [
      "a setting that is no text",
      { config: { "log.console.level": 1 } },
      /^config\["log\.console\.level"\]: this number is not allowed; it must be one line of text; put quotes around it, so that it is a text$/,
    ],
    [
      "a setting with a space",
      { config: { "log level": "debug" } },
      /^config\[.*\]: this text .* settings of rabbitmq\.conf$/,
    ],
    [
      "a setting that follows",
      { config: { "raft.wal_max_size_bytes": "1" } },
      /^config\["raft\..*"\]: "1" .* follows from/,
    ],
    [
      "a password in the settings",
      { config: { default_pass: "hunter2" } },
      /^config\.default_pass: this text .* from password$/,
    ],
    ["a cookie for the operator", { mode: "operator", erlangCookie: "a".repeat(20) }, /^erlangCookie: .*makes its own/],
    ["a secret that was not found", { password: null }, /^password: null .* or left out for a generated one$/],
    ["a secret that is no text", { password: 4815162342 }, /^password: this number .* 16 to 200 letters/],
  ];
  for (const [label, change, message] of refusals) {
    it(`refuse ${label}`, () => refuses(() => readCluster({ ...least, ...change }), message));
  }

  it("may be known later", () => {
    const later = Promise.resolve("a password");
    assert.equal(readCluster({ ...least, password: later }, ["password"]).password, later);
  });
});

describe("the options of a process on Kubernetes", () => {
  it("have defaults", () => {
    const store = readStoreDeployment({ ...process, databaseSecret: "database", memoryMiB: null });
    assert.deepEqual([store.replicas, store.memoryMiB, store.databaseSecretKey], [2, 512, "url"]);
    assert.equal(readGatewayDeployment(process).memoryMiB, 256);
  });

  const refusals: [string, object, RegExp][] = [
    ["a misspelled property", { replica: 2 }, /^deployment\.replica: unknown property; .* did you mean replicas\?$/],
    ["a namespace that is none", { namespace: "A" }, /^deployment\.namespace: "A" .* a Kubernetes namespace$/],
    ["an image without a tag", { image: "store" }, /^deployment\.image: this text is not allowed; .* with a tag$/],
    ["no address", { amqpUrl: undefined }, /^deployment\.amqpUrl: undefined .* without a user$/],
    ["a password alone in the address", { amqpUrl: "amqps://:hunter2@rabbit" }, /^deployment\.amqpUrl: this text /],
    ["a key in the place of a name", { caSecret: "-----BEGIN KEY-----\nabc" }, /^deployment\.caSecret: this text /],
    [
      "a key that no Secret has",
      { databaseSecretKey: "a b" },
      /^deployment\.databaseSecretKey: this text .* a key of a/,
    ],
    ["too many instances", { replicas: 11 }, /^deployment\.replicas: 11 .* from 1 to 10$/],
  ];
  for (const [label, change, message] of refusals) {
    it(`refuse ${label}`, () =>
      refuses(() => readStoreDeployment({ ...process, databaseSecret: "database", ...change }), message));
  }
});
