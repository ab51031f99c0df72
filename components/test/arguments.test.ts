import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { delayNetwork } from "@rabbitmq-delay/topology";

const network = delayNetwork({ preset: "celery" });

/** Parts of plugin/schema.json that this test reads. */
interface PackageSchema {
  resources: Record<string, { isComponent?: boolean; inputProperties: object }>;
}

describe("arguments of components", () => {
  let components: typeof import("pulumi-rabbitmq-delay");

  before(async () => {
    await pulumi.runtime.setMocks(
      { newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs as object }), call: () => ({}) },
      "project",
      "stack",
      true,
    );
    components = await import("pulumi-rabbitmq-delay");
  });

  // A misspelled removal was retain or, worse, none; a misspelled password was a generated one that no service had.
  it("that nobody reads are refused", () => {
    const { EndpointDelayBinding, EndpointUser, HoldQueues, DelayedMessageStore, RetryIntervalQueues } = components;
    const login = { user: "sales", network };
    const refusals: [() => unknown, RegExp][] = [
      [
        () => new EndpointDelayBinding("a", { endpoint: "a", network, removel: "delete" } as never),
        /^removel: .*known/,
      ],
      [
        () => new EndpointDelayBinding("a", { endpoint: "a", network, pattern: ["a"] } as never),
        /^pattern: .*patterns/,
      ],
      [
        () => new EndpointDelayBinding("a", { endpoint: "a", network, createQueue: "false" } as never),
        /^createQueue: this text is not allowed; it must be true or false/,
      ],
      [
        () => new EndpointDelayBinding("a", { endpoint: "a", furtherNetworks: {} } as never),
        /^furtherNetworks: .*it must be a list/,
      ],
      [
        () => {
          const retryIntervals = new RetryIntervalQueues("r", { intervals: ["5s"] });
          return new EndpointDelayBinding("a", { endpoint: "a", network, retryIntervals } as never);
        },
        /^retryIntervals: a component is not allowed; give its output, component\.retryIntervals$/,
      ],
      [() => new EndpointUser("a", { ...login, consume: ["a"], credentials: [{}] } as never), /^consume: .*consumes/],
      [
        () => new EndpointUser("a", { ...login, credentials: [{ sufix: "a" }] } as never),
        /^credentials\[0\]\.sufix: .*suffix/,
      ],
      // As YAML reads a year.
      [
        () => new EndpointUser("a", { ...login, credentials: [{ suffix: 2024 }] } as never),
        /^credentials\[0\]\.suffix: this number is not allowed; it must be a text; put quotes around it, so that it is a text$/,
      ],
      [
        () => new EndpointUser("a", { ...login, credentials: [{ passwrod: "hunter2hunter2" }] } as never),
        /^credentials\[0\].passwrod: unknown property; known properties are suffix/,
      ],
      [
        () =>
          new HoldQueues("a", { delays: [1], destinations: [{ exchange: "", routingKey: "a", key: "b" }] } as never),
        /^destinations\[0\]\.key: .*routingKey/,
      ],
      [
        () => new DelayedMessageStore("a", { user: "s", credentials: [{}], deployment: { replica: 2 } } as never),
        /^deployment\.replica: .*replicas/,
      ],
    ];
    for (const [make, message] of refusals) {
      assert.throws(make, (error: Error) => error.name === "DelayTopologyError" && message.test(error.message));
    }
  });

  it("that nobody reads are refused with the nearest that is read", () => {
    const { EndpointDelayBinding, EndpointUser, RabbitMqCluster } = components;
    const cluster = { namespace: "messaging", storage: { className: "fast" } };
    for (const [make, meant] of [
      [() => new EndpointDelayBinding("a", { endpoint: "a", network, removel: "delete" } as never), "removal"],
      [() => new EndpointUser("a", { user: "a", network, credentials: [{}], consume: ["a"] } as never), "consumes"],
      [() => new EndpointUser("a", { user: "a", network, credentials: [{ sufix: "a" }] } as never), "suffix"],
      [() => new RabbitMqCluster("a", { ...cluster, tls: { isuer: "a" } } as never), "issuer"],
    ] as const)
      assert.throws(make, new RegExp(`^DelayTopologyError: .*known properties are .*; did you mean ${meant}\\?$`));
  });

  it("are all named where one that nobody knows is refused, and its value is not", () => {
    const { resources } = JSON.parse(readFileSync("plugin/schema.json", "utf8")) as PackageSchema;
    const made = Object.entries(resources).filter(([, { isComponent }]) => isComponent === true);
    assert.ok(made.length >= 12);
    for (const [token, { inputProperties }] of made) {
      const Component = components[token.split(":").at(-1) as "EndpointUser"] as new (
        name: string,
        args: object,
      ) => object;
      assert.throws(
        () => new Component("a", { prefx: "hunter2" }),
        ({ message }: Error) => {
          const [, known = ""] = /^prefx: unknown property; known properties are ([^;]*)/.exec(message) ?? [];
          const missing = Object.keys(inputProperties).filter((name) => !known.split(", ").includes(name));
          assert.deepEqual(missing, [], `${token}: ${message}`);
          return !message.includes("hunter2");
        },
      );
    }
  });

  it("are outputs where they may be, and nowhere else", () => {
    const { EndpointDelayBinding, EndpointUser, RabbitMqCluster, DelayedMessageStore } = components;
    const known = pulumi.output("a-password-that-is-long");
    const cluster = { namespace: "messaging", storage: { className: "fast" } };
    const deployment = { namespace: "messaging", image: "store:1.0", amqpUrl: known, databaseSecret: "database" };
    const address = pulumi.output("amqps://rabbit:5671");
    const store = { user: "store", credentials: [{ password: known }] };
    assert.ok(
      new RabbitMqCluster("later", { ...cluster, password: known, erlangCookie: pulumi.output("a".repeat(20)) }),
    );
    assert.ok(new DelayedMessageStore("later", { ...store, deployment: { ...deployment, amqpUrl: address } }));
    assert.ok(
      new EndpointUser("later", {
        user: "later",
        credentials: store.credentials,
        network: pulumi.output(network) as never,
      }),
    );
    assert.ok(
      new EndpointDelayBinding("later", {
        endpoint: "later",
        network: pulumi.output(network) as never,
        createQueue: true,
        queueArguments: { "x-max-length": pulumi.output(5) },
        vhost: pulumi.output("/"),
      }),
    );
    const refusals: [() => unknown, RegExp][] = [
      [
        () => new RabbitMqCluster("a", { ...cluster, namespace: known } as never),
        /namespace: an output is not allowed; it must be the name of a Kubernetes namespace, known before anything is made$/,
      ],
      [
        () => new RabbitMqCluster("a", { ...cluster, storage: { className: known } } as never),
        /storage\.className: an output/,
      ],
      [
        () => new DelayedMessageStore("a", { ...store, deployment: { ...deployment, image: known } } as never),
        /deployment\.image: an output .* an image with a tag, known before/,
      ],
      [() => new EndpointUser("a", { ...store, user: known } as never), /user: an output is not allowed/],
      [
        () => new EndpointUser("a", { ...store, consumes: [known] } as never),
        /consumes\[0\]: an output is not allowed/,
      ],
      [
        () => new EndpointDelayBinding("a", { endpoint: known, network } as never),
        /endpoint: an output is not allowed/,
      ],
    ];
    for (const [make, message] of refusals)
      assert.throws(make, (error: Error) => error.name === "DelayTopologyError" && message.test(error.message));
  });

  // The stack with it could be made, and neither be refreshed nor destroyed.
  it("a vhost with an @ is refused", () => {
    assert.throws(
      () => new components.WorkRetryQueues("at", { queue: "work", delays: [1000], vhost: "team@prod" }),
      /^DelayTopologyError: vhost: this text is not allowed; it must have no @/,
    );
  });

  // Each message for Europe.Sales arrived at Sales as well: only the topology itself told the two apart.
  it("endpoints of a network are told apart, whether they are given the topology or its output", () => {
    const { DelayLevelTopology, EndpointDelayBinding } = components;
    const shape = { preset: "custom", prefix: "orders", radix: 2, levels: 2, matching: "suffix" } as never;
    for (const [first, second] of [
      ["output", "output"],
      ["topology", "output"],
      ["output", "topology"],
    ]) {
      const topology = new DelayLevelTopology(`delay-${first}-${second}`, shape);
      const of = (how: string | undefined): object => ({ network: how === "output" ? topology.network : topology });
      const bind = (endpoint: string, source: object): unknown =>
        new EndpointDelayBinding(`${first}-${second}-${endpoint}`, { endpoint, createQueue: true, ...source } as never);
      bind("Sales", of(first));
      assert.throws(() => bind("Europe.Sales", of(second)), /Europe\.Sales.* is not allowed/);
    }
  });

  it("a further network whose name another stack will say is refused, because its bindings are named by it", () => {
    const further = delayNetwork({ preset: "custom", prefix: "orders", radix: 2, levels: 2 });
    const join = (one: unknown): unknown =>
      new components.EndpointDelayBinding("a", { endpoint: "a", network, furtherNetworks: [one] } as never);
    assert.throws(() => join(pulumi.output(further)), /^DelayTopologyError: furtherNetworks\[0\]: .*plain descriptor/);
    assert.doesNotThrow(() => join(further));
    assert.throws(() => join(null), /^DelayTopologyError: .*null is not allowed/);
  });
});
