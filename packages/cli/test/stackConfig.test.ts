import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readStackFile } from "../dist/stackConfig";
import { temporaryFolder } from "../../../test/support/temporaryFolder";

const network = { preset: "custom", prefix: "orders", radix: 4, levels: 2 };

function fileOf(config: unknown, project?: string): string {
  const folder = temporaryFolder();
  if (project !== undefined) writeFileSync(join(folder, "Pulumi.yaml"), `name: ${project}\n`);
  const file = join(folder, "Pulumi.prod.yaml");
  writeFileSync(file, JSON.stringify({ config }));
  return file;
}

describe("a stack's config for check", () => {
  // "Cannot destructure property 'name' of 'object null'" named neither the file nor the property.
  it("names what is no object", () => {
    for (const [property, value, message] of [
      [
        "endpoints",
        [{ name: "A" }, null],
        /--stack-config: \S+: endpoints\[1\]: null is not allowed; it must be an object/,
      ],
      ["workQueues", [null], /--stack-config: \S+: workQueues\[0\]: null is not/],
      ["delayedRetryQueues", ["a"], /--stack-config: \S+: delayedRetryQueues\[0\]: this text is not/],
      ["delayedStore", [], /--stack-config: \S+: delayedStore: \[\] is not/],
      ["broker", [], /--stack-config: \S+: broker: \[\] is not/],
    ] as const) {
      const file = fileOf({ "rabbitmq-delay:network": network, [`rabbitmq-delay:${property}`]: value });
      assert.throws(() => readStackFile(file), message);
    }
  });

  // As YAML has a key with nothing behind it.
  it("takes null for what is not given, and no null for a network", () => {
    const file = fileOf({
      "rabbitmq-delay:network": { ...network, parking: null },
      "rabbitmq-delay:networks": null,
      "rabbitmq-delay:broker": null,
      "rabbitmq-delay:endpoints": [{ name: "Sales", patterns: null }],
    });
    const { networks, vhost, endpoints } = readStackFile(file);
    assert.equal(networks[0]?.network.parkingQueue, "orders.r4x2u1000.parking");
    assert.equal(vhost, "/");
    assert.deepEqual(endpoints[0]?.patterns, undefined);
    assert.throws(
      () => readStackFile(fileOf({ "rabbitmq-delay:networks": { a: null, b: network } })),
      /networks\.a: null is not allowed; it must be an object/,
    );
    assert.throws(() => readStackFile(fileOf({ "rabbitmq-delay:network": null })), /has no network/);
  });

  it("has the error queues that the stack declares for all services", () => {
    const file = fileOf({ "rabbitmq-delay:network": network, "rabbitmq-delay:errorQueues": ["error", "audit"] });
    assert.deepEqual(readStackFile(file).errorQueues, ["error", "audit"]);
  });

  // Another provider's network took the place of the stack's own, and the check was of that one.
  it("takes the project's own values alone", () => {
    const both = { "rabbitmq-delay:network": network, "aws:network": { preset: "celery" }, "aws:endpoints": [null] };
    assert.equal(readStackFile(fileOf(both)).networks[0]?.network.preset, "custom");
    const renamed = { "shop:network": network, "aws:network": { preset: "celery" } };
    assert.equal(readStackFile(fileOf(renamed, "shop")).networks[0]?.network.preset, "custom");
    assert.throws(
      () => readStackFile(fileOf(renamed)),
      /has a network of more than one project \(shop, aws\); put it beside its Pulumi\.yaml/,
    );
    assert.throws(() => readStackFile(fileOf({ "aws:network": network }, "shop")), /has no network/);
    assert.equal(readStackFile(fileOf({ "shop:network": network })).networks[0]?.network.preset, "custom");
  });

  // A check of a misspelled config was of another topology than the stack's, and said that all was well.
  it("refuses what nobody reads", () => {
    for (const [given, message] of [
      [
        { endpoint: [{ name: "Sales" }] },
        /config: "endpoint" is not allowed; .* did you mean endpoints\? Known keys are /,
      ],
      [{ prodution: true }, /did you mean production\?/],
      [{ endpoints: [{ name: "Sales", createqueue: true }] }, /endpoints\[0\]\.createqueue: unknown property; known/],
      [
        { endpoints: [{ name: "Sales", pattern: ["a"] }] },
        /endpoints\[0\]\.pattern: .*known properties are name, type/,
      ],
      [{ broker: { vhostt: "a" } }, /broker\.vhostt: /],
      [{ network: { ...network, vhost: "a" } }, /network\.vhost: "a" is not allowed; give it as broker\.vhost/],
      [{ removal: "keep" }, /removal: this text is not allowed; it must be one of retain, delete/],
    ] as const) {
      const keys = Object.entries(given).map(([key, value]) => [`rabbitmq-delay:${key}`, value]);
      const file = fileOf({ "rabbitmq-delay:network": network, ...Object.fromEntries(keys) });
      assert.throws(() => readStackFile(file), message);
    }
    const secrets = { "rabbitmq-delay:brokerPassword": { secure: "v1:a" }, "rabbitmq-delay:storePassword": "b" };
    assert.equal(readStackFile(fileOf({ "rabbitmq-delay:network": network, ...secrets })).vhost, "/");
  });

  // The file was checked for all but its secrets, and yet showed them.
  it("reads no secret, however it is written", () => {
    const folder = temporaryFolder();
    const file = join(folder, "Pulumi.prod.yaml");
    const head = `config:\n  rabbitmq-delay:network: { preset: celery }\n  rabbitmq-delay:production: "false"\n`;
    for (const value of ["!secret hunter2", '"4815162342"', "{ a: hunter2 }", '"{hunter2"', "[hunter2]"]) {
      writeFileSync(file, `${head}  rabbitmq-delay:brokerPassword: ${value}\n`);
      const warnings: unknown[] = [];
      const note = (warning: unknown): void => void warnings.push(warning);
      process.on("warning", note);
      assert.equal(readStackFile(file).vhost, "/", value);
      process.off("warning", note);
      assert.deepEqual(warnings, []);
    }
  });

  it("refuses what the program refuses", () => {
    for (const [given, message] of [
      [{ allow: ["everything"] }, /allow\[0\]: "everything" is not allowed; it must be one of classic-level-queues/],
      [{ createVhost: "true" }, /createVhost: true is not allowed; the vhost \/ is always there/],
      [{ broker: { vhost: "a@b" } }, /broker\.vhost: this text is not allowed; it must have no @/],
      [{ endpoints: [{ name: "a", retries: true }] }, /endpoints\[0\]\.retries: true is not allowed/],
      [{ endpoints: [{ name: "a", errorQueue: "a" }] }, /endpoints\[0\]\.errorQueue: /],
      [{ endpoints: [{ name: "a", errorQueue: "a/b" }] }, /errorQueue/],
      [{ endpoints: [{ name: "a".repeat(227) }] }, /endpoints\[0\]\.name: .* is not allowed; it has 227 bytes/],
      [
        { endpoints: [{ name: "a", patterns: ["b".repeat(227)] }] },
        /endpoints\[0\]\.patterns\[0\]: .* is not allowed; it has 227 bytes/,
      ],
      [
        { delayedStore: { user: "u".repeat(250) } },
        /delayedStore\.user: .* is not allowed; the name must have 1 to 200 characters/,
      ],
      [
        { broker: { managementUrl: "https://a:hunter2@b:15671" } },
        /: broker\.managementUrl: it must not hold a user or a password \((?!.*hunter2)/,
      ],
      [
        { broker: { managementUrl: "rabbit:15672" } },
        /: broker\.managementUrl: this text is not allowed; it must be an http/,
      ],
      [{ cluster: { managementUrl: "https://a:hunter2@b" } }, /: cluster\.managementUrl: it must not hold/],
      [
        { networks: JSON.parse('{"__proto__": {"preset": "celery"}}') as object },
        /networks: .* a network's name must be/,
      ],
      [
        { cluster: { password: "hunter2hunter2hunter2" } },
        /cluster\.password: this text is not allowed; give it as brokerPassword/,
      ],
    ] as const) {
      const keys = Object.entries(given).map(([key, value]) => [`rabbitmq-delay:${key}`, value]);
      const file = fileOf({ "rabbitmq-delay:network": network, ...Object.fromEntries(keys) });
      assert.throws(() => readStackFile(file), message);
    }
  });

  // They were read by the program alone, so that a check said that all was well.
  it("refuses what the program refuses of a cluster and of processes", () => {
    const cluster = { namespace: "messaging", storage: { className: "fast" } };
    const deployment = { namespace: "messaging", image: "store:1.0", databaseSecret: "database" };
    const amqpUrl = "amqps://rabbit:5671";
    for (const [given, message] of [
      [{ cluster: { ...cluster, tlss: {} } }, /: cluster\.tlss: .*known properties are .*did you mean tls\?/],
      [{ cluster: { namespace: "messaging" } }, /: cluster\.storage\.className: undefined .*StorageClass/],
      [{ cluster: { ...cluster, replicas: 2 } }, /: cluster\.replicas: 2 is not allowed; it must be 1, 3 or 5/],
      [{ cluster: { ...cluster, memoryMiB: 512 } }, /: cluster\.memoryMiB: 512 .*at least 747/],
      [{ cluster: { ...cluster, tls: {} } }, /: cluster\.tls\.secretName: undefined .*cert-manager issuer/],
      [
        { cluster: { ...cluster, mode: "operator", erlangCookie: { secure: "v1:abc" } } },
        /: cluster\.erlangCookie: .* is not allowed; the operator makes its own/,
      ],
      [
        { cluster: { ...cluster, mode: "operator", erlangCookie: "hunter2" } },
        /: cluster\.erlangCookie: (?!.*hunter2).* the operator makes its own/,
      ],
      [
        { cluster, broker: { managementUrl: "https://rabbit:15671" } },
        /: broker\.managementUrl: this text is not allowed; this stack makes its own cluster, give cluster\.managementUrl$/,
      ],
      [{ cluster, broker: { insecure: true } }, /: broker\.insecure: true .* give cluster\.caCertFile$/],
      [{ cluster: { ...cluster, image: "rabbitmq:3.13.7" } }, /: cluster\.image: this text .*4\.1 or newer/],
      [
        { delayedStore: { user: "store", deployment: { ...deployment, amqpUrl, replica: 2 } } },
        /: delayedStore\.deployment\.replica: unknown property; .*did you mean replicas\?/,
      ],
      [
        { delayedStore: { user: "store", deployment } },
        /: delayedStore\.deployment\.amqpUrl: undefined .*without a user/,
      ],
      [
        { delayedStore: { deployment: { ...deployment, amqpUrl } } },
        /: delayedStore\.user: undefined .*a deployment needs the store's user/,
      ],
      [
        { delayGateway: { deployment: { namespace: "messaging", image: "gateway:1.0", memoryMiB: 64, amqpUrl } } },
        /: delayGateway\.deployment\.memoryMiB: 64 .*from 128 to 65536/,
      ],
    ] as const) {
      const keys = Object.entries(given).map(([key, value]) => [`rabbitmq-delay:${key}`, value]);
      const file = fileOf({ "rabbitmq-delay:network": network, ...Object.fromEntries(keys) });
      assert.throws(() => readStackFile(file), message);
    }
    const beside = { "rabbitmq-delay:cluster": cluster, "rabbitmq-delay:delayedStore": { user: "store", deployment } };
    assert.equal(readStackFile(fileOf({ "rabbitmq-delay:network": network, ...beside })).store?.name, "delayed");
  });

  it("reads no secret of a cluster, and says what else in it is encrypted", () => {
    const check = (more: object): unknown =>
      readStackFile(
        fileOf({
          "rabbitmq-delay:network": network,
          "rabbitmq-delay:cluster": { namespace: "messaging", storage: { className: "fast" }, ...more },
        }),
      );
    assert.ok(check({ erlangCookie: { secure: "v1:a" } }));
    assert.throws(
      () => check({ caCertFile: { secure: "v1:a" } }),
      /--stack-config: cluster\.caCertFile of \S+ is encrypted/,
    );
  });

  // Without the endpoints, the check would be of another topology, and say that all is well.
  it("refuses what it can't read because it is encrypted", () => {
    const endpoints = { "rabbitmq-delay:endpoints": { secure: "v1:a" } };
    assert.throws(
      () => readStackFile(fileOf({ "rabbitmq-delay:network": network, ...endpoints })),
      /--stack-config: endpoints of \S+ is encrypted, and only the engine can read it/,
    );
  });

  it("reads whose client an endpoint is, because that decides how it is bound", () => {
    const endpoints = [{ name: "orders", client: "celery" }];
    const file = fileOf({ "rabbitmq-delay:network": { preset: "celery" }, "rabbitmq-delay:endpoints": endpoints });
    const bound = { name: "orders", type: "exchange", patterns: undefined, client: "celery" };
    assert.deepEqual(readStackFile(file).networks[0]?.endpoints, [bound]);
  });

  // Both were passed over, so that "nothing found" was said of another topology than the engine declares.
  it("reads keys without the project's name, as the engine does", () => {
    const plain = { network, endpoints: [{ name: "Sales" }], "other:endpoints": [{ name: "Other" }] };
    for (const project of [undefined, "shop"])
      assert.deepEqual(
        readStackFile(fileOf(plain, project)).endpoints?.map(({ name }) => name),
        ["Sales"],
      );
    const mixed = fileOf({ "rabbitmq-delay:network": network, endpoints: [{ nam: "Sales" }] });
    assert.throws(() => readStackFile(mixed), /: endpoints\[0\].nam: unknown property; known/);
    const former = fileOf({
      "rabbitmq-delay:config:network": network,
      "rabbitmq-delay:config:endpoints": [{ name: "A" }],
    });
    assert.deepEqual(
      readStackFile(former).endpoints?.map(({ name }) => name),
      ["A"],
    );
    const twice = fileOf({ "rabbitmq-delay:network": network, network });
    assert.throws(() => readStackFile(twice), /has network twice, with and without the project's name/);
  });

  // A password of digits became another one without a word.
  it("refuses a number in the place of a password, and does not show it", () => {
    for (const key of ["brokerPassword", "storePassword", "gatewayPassword"])
      for (const [value, kind] of [
        [4815162342, "number"],
        [true, "flag"],
      ] as const)
        assert.throws(
          () => readStackFile(fileOf({ "rabbitmq-delay:network": network, [`rabbitmq-delay:${key}`]: value })),
          (error: Error) =>
            error.message.includes(`: ${key}: this ${kind} is not allowed; it must be a text: set it with --secret`) &&
            !error.message.includes(String(value)),
        );
  });
});
