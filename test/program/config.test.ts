import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import * as pulumi from "@pulumi/pulumi";
import { planEndpoints, planStack } from "@rabbitmq-delay/topology/stack";
import { readConfig } from "../../program/config";

const SECRET = "hunter2-correct-horse";
/** A password without letters, which YAML and JSON read as a number. */
const DIGITS = 4815162342;
/** A config with all that a stack can have, but for a cluster. */
const whole = {
  broker: { managementUrl: "https://rabbitmq.example.com", username: "topology", vhost: "orders" },
  network: { preset: "custom", prefix: "orders", radix: 4, parking: true },
  endpoints: [{ name: "Sales", type: "queue", patterns: ["Sales"], createQueue: true }],
  retryIntervals: { intervals: ["5s"], queueType: "quorum" },
  workQueues: [{ queue: "work", delays: ["5s"], maxRetries: 3 }],
  holdQueues: { delays: ["5s"], destinations: [{ exchange: "", routingKey: "Sales" }] },
  delayedRetryQueues: [{ queue: "counted", minMs: 5000 }],
  errorQueues: ["error", "audit"],
  delayedStore: { storeName: "later", forwards: [{ exchange: "in", delivery: "out" }], toQueues: true },
  production: false,
  createVhost: true,
  allow: ["single-node", "Sales with Europe.Sales"],
};
/** One with a cluster of its own, and processes beside it. */
const withCluster = {
  network: whole.network,
  cluster: {
    namespace: "messaging",
    createNamespace: true,
    replicas: 3,
    image: "rabbitmq:4.3.6",
    storage: { className: "fast", sizeGiB: 20 },
    memoryMiB: 2048,
    memoryWatermark: 0.6,
    cpu: "500m",
    tls: { issuer: "authority", issuerKind: "Issuer", dnsNames: ["rabbit.example.com"] },
    plugins: ["rabbitmq_shovel"],
    config: { "log.console.level": "debug" },
    access: { clientNamespaces: ["services"] },
    monitoring: { serviceMonitor: true, labels: { team: "orders" } },
    ingress: { host: "rabbit.example.com", className: "nginx", tlsSecretName: "certificate", annotations: { a: "b" } },
    managementUrl: "https://localhost:15671",
    caCertFile: "ca.pem",
    username: "administrator",
    erlangCookie: "abcdefghijklmnopqrst",
    readyTimeoutSeconds: 60,
  },
  delayedStore: {
    user: "store",
    deployment: { namespace: "messaging", image: "store:1.0", databaseSecret: "database", replicas: 2 },
  },
  delayGateway: {
    user: "gateway",
    deployment: { namespace: "messaging", image: "gateway:1.0", caSecret: "authority" },
  },
  storePassword: "the password of the store",
  gatewayPassword: "the password of the gateway",
};
type Node = Record<string, unknown>;

/** All that a program reads of a config before it looks at the broker. */
function plan(given: Node, environment: NodeJS.ProcessEnv = {}, secretKeys: string[] = []): void {
  const texts = Object.entries(given).map(([key, value]) => [
    `rabbitmq-delay:${key}`,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  pulumi.runtime.setAllConfig(Object.fromEntries(texts) as Record<string, string>, secretKeys);
  const config = readConfig(new pulumi.Config("rabbitmq-delay"), environment);
  planEndpoints(planStack(config, config.vhost), config);
}

/** Every object and list in a config, with the way to it. */
function placesOf(node: unknown, path: string[] = []): string[][] {
  if (typeof node !== "object" || node === null) return [];
  return [path, ...Object.entries(node).flatMap(([key, value]) => placesOf(value, [...path, key]))];
}

function at(node: unknown, path: string[]): Node {
  return path.reduce((part, key) => (part as Record<string, Node>)[key] as Node, node as Node);
}

describe("a stack's config", () => {
  after(() => pulumi.runtime.setAllConfig({}));

  it("takes what it should", () => {
    plan(whole);
    plan(withCluster);
  });

  // Whoever writes broker.password in place of brokerPassword had it in the log of every preview.
  it("shows no secret, wherever and however it was mistyped", () => {
    const ways: ((place: Node, key: string, secret: string | number) => void)[] = [
      (place, key, secret) => (place[`${key}x`] = secret),
      // As `password:hunter2` without a space is read.
      (place, _key, secret) => (place[`password:${secret}`] = null),
      (place, key, secret) => (place[`${key}x`] = { password: secret }),
      (place, key, secret) => (place[key] = { password: secret }),
      (place, key, secret) => (place[key] = [{ [key]: secret }]),
      (place, _key, secret) => (place.password = secret),
      (place, key, secret) => {
        // A text where a text belongs is shown, e.g. a preset that there is none of, and a number where a number belongs.
        if (typeof place[key] !== typeof secret) place[key] = secret;
      },
    ];
    let refused = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(
          ...placesOf(whole).map((path) => [whole, path] as const),
          ...placesOf(withCluster).map((path) => [withCluster, path] as const),
        ),
        fc.nat(20),
        fc.constantFrom(...ways),
        fc.constantFrom("json", "url", "plain", "digits"),
        ([given, path], which, spoil, form) => {
          const config = structuredClone(given) as Node;
          const place = at(config, path);
          const keys = Object.keys(place);
          const texts = { json: `{"a": "${SECRET}`, url: `http://me:${SECRET}@host`, plain: SECRET };
          const secret = form === "digits" ? DIGITS : (texts[form as keyof typeof texts] as string);
          spoil(place, keys[which % keys.length] ?? "password", secret);
          try {
            plan(config);
          } catch (error) {
            refused++;
            const { message, stack = "" } = error as Error;
            for (const shown of [SECRET, String(DIGITS)])
              assert.ok(!message.includes(shown) && !stack.includes(shown), message);
          }
        },
      ),
      { numRuns: 4000 },
    );
    assert.ok(refused > 1000, "most of them are refused");
  });

  // `endpoint` in place of `endpoints` was no endpoint at all: the preview was fine, and all queues were to be deleted.
  it("refuses keys that nobody reads, and tells the nearest, before a value is read", () => {
    const { endpoints, ...rest } = whole;
    assert.throws(
      () => plan({ ...rest, endpoint: endpoints }),
      /^DelayTopologyError: config: "endpoint" is not allowed; nothing reads it; did you mean endpoints\? Known keys are broker, /,
    );
    assert.throws(() => plan({ ...whole, prodution: true }), /did you mean production\?/);
    assert.throws(() => plan({ ...whole, WorkQueue: [] }), /did you mean workQueues\?/);
    plan({ ...whole, brokerPassword: SECRET, storePassword: SECRET });
    for (const [part, wrong, meant] of [
      ["cluster", "replica", "replicas"],
      ["delayedStore", "users", "user"],
    ] as const)
      assert.throws(
        () => plan({ ...withCluster, [part]: { ...withCluster[part], [wrong]: 1 } }),
        new RegExp(`${part}\\.${wrong}: unknown property; known properties are .*; did you mean ${meant}\\?$`),
      );
  });

  // They were refused when the networks and the store had been made, as credentials[0].password, with a stack trace.
  it("refuses passwords that are too short, by the names that they were given by", () => {
    const rule = /: "5 characters" is not allowed; it must have at least 12 characters$/;
    for (const key of ["storePassword", "gatewayPassword"] as const)
      assert.throws(
        () => plan({ ...withCluster, [key]: "short" }),
        (error: Error) => error.message.startsWith(`${key}: `) && rule.test(error.message),
      );
    assert.throws(
      () => plan({ ...whole, delayedStore: { user: "store" } }, { RABBITMQ_STORE_PASSWORD: "short" }),
      (error: Error) => error.message.startsWith("RABBITMQ_STORE_PASSWORD: ") && rule.test(error.message),
    );
    assert.throws(
      () => plan({ ...withCluster, brokerPassword: "short" }),
      /^DelayTopologyError: brokerPassword: "5 characters" is not allowed; it must have 16 to 200 letters/,
    );
    // Nobody logs in by it.
    plan({ ...whole, storePassword: "short" });
  });

  it("refuses a plain password of digits, which may have been another number, and does not show it", () => {
    for (const key of ["brokerPassword", "storePassword", "gatewayPassword"]) {
      const config = { ...whole, [key]: `${DIGITS}` };
      assert.throws(
        () => plan(config),
        new RegExp(`^DelayTopologyError: ${key}: this text is not allowed; it may be a number, .* --secret ${key}$`),
      );
      plan(config, {}, [`rabbitmq-delay:${key}`]);
    }
  });

  it("names the property and what is allowed", () => {
    const refuses = (change: Node, message: RegExp): void =>
      assert.throws(() => plan({ ...whole, ...change }), message);
    refuses(
      { broker: { ...whole.broker, password: SECRET } },
      /^DelayTopologyError: broker\.password: unknown property; known properties/,
    );
    refuses(
      { broker: { ...whole.broker, managementUrl: `https://me:${SECRET}@host` } },
      /broker\.managementUrl: it must not hold a user or a password/,
    );
    // The provider's ids end at an @: a stack could be made, and neither be refreshed nor destroyed.
    refuses({ broker: { ...whole.broker, vhost: "team@prod" } }, /broker\.vhost: .* it must have no @, /);
    refuses(
      { production: "yes" },
      /^DelayTopologyError: production: this text is not allowed; it must be true or false/,
    );
    refuses({ removal: "keep" }, /^DelayTopologyError: removal: this text is not allowed; .*retain, delete/);
    refuses(
      { allow: ["everything"] },
      /^DelayTopologyError: allow\[0\]: "everything" is not allowed; it must be one of classic-level-queues, /,
    );
    refuses(
      { network: { ...whole.network, prefixx: "a" } },
      /^DelayTopologyError: network\.prefixx: unknown property; known properties/,
    );
  });
});
