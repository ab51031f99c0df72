import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as pulumi from "@pulumi/pulumi";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { componentKinds } from "@rabbitmq-delay/topology/stack";

type Maker = new (name: string, args?: unknown) => pulumi.ComponentResource;

const network = delayNetwork({ preset: "celery" });
const broker = { managementUrl: "http://127.0.0.1:1", username: "a", password: "b" };
const credentials = [{ password: "a long password" }];
const gatewayDeployment = { namespace: "n", image: "gateway:1.0", amqpUrl: "amqp://b:5672" };
const deployment = { namespace: "n", image: "store:1.0", amqpUrl: "amqp://b:5672", databaseSecret: "db" };

/** Of each component the arguments that it needs, and some that it does not. */
const components: Record<keyof typeof componentKinds, { needed: object; more: object }> = {
  DelayLevelTopology: { needed: { preset: "celery" }, more: { parking: true, removal: "retain" } },
  EndpointDelayBinding: { needed: { endpoint: "a", network }, more: { patterns: ["a"], createQueue: true, allow: [] } },
  RetryIntervalQueues: { needed: { intervals: [1000] }, more: { prefix: "retry", parking: true } },
  WorkRetryQueues: { needed: { queue: "a", delays: [1000] }, more: { patterns: ["#"], maxRetries: 1, vhost: "/" } },
  HoldQueues: {
    needed: { delays: [1000], destinations: [{ exchange: "", routingKey: "a" }] },
    more: { removal: "retain" },
  },
  DelayedExchange: {
    needed: { exchange: "a", delays: [1000] },
    more: { type: "direct", removal: "retain", vhost: "/" },
  },
  ErrorQueues: { needed: { names: ["error"] }, more: { queueType: "quorum", removal: "retain", vhost: "/" } },
  DelayedRetryQueue: { needed: { queue: "a", minMs: 1000, broker }, more: { maxMs: 2000, removal: "retain" } },
  EndpointUser: { needed: { user: "a", credentials }, more: { consumes: ["a"], network, formerOwners: [] } },
  DelayedMessageStore: { needed: {}, more: { user: "a", credentials, deployment, formerOwners: [], adopt: true } },
  DelayGateway: {
    needed: { network },
    more: { user: "a", credentials, deployment: gatewayDeployment, formerOwners: [], adopt: true, removal: "retain" },
  },
  RabbitMqCluster: {
    needed: { namespace: "a", storage: { className: "fast" } },
    more: { tls: { issuer: "a" }, replicas: 3, plugins: [] },
  },
};

/** A program in JavaScript or YAML is checked by no compiler, and a stack trace names no property. */
describe("components that lack arguments", () => {
  let made: Record<string, Maker>;
  let count = 0;
  /** Says which version a broker has, which one component asks for. */
  let api: Server;

  before(async () => {
    const newResource = ({ name, inputs }: pulumi.runtime.MockResourceArgs): { id: string; state: object } => ({
      id: `${name}-id`,
      state: inputs as object,
    });
    api = createServer((_, response) => {
      const overview = { rabbitmq_version: "4.3.6", management_version: "4.3.6" };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(overview));
    });
    await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
    broker.managementUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    // A preview waits for no broker.
    await pulumi.runtime.setMocks({ newResource, call: () => ({}) }, "project", "stack", true);
    made = (await import("pulumi-rabbitmq-delay")) as unknown as Record<string, Maker>;
  });

  after(() => void api.close());

  const make = (kind: string, args?: unknown): unknown => new (made[kind] as Maker)(`a${count++}`, args);
  const refuses = (kind: string, args: unknown, message: RegExp): void =>
    assert.throws(
      () => make(kind, args),
      (error: Error) => {
        assert.equal(error.name, "DelayTopologyError", error.stack);
        assert.match(error.message, message);
        return true;
      },
    );

  for (const [kind, { needed, more }] of Object.entries(components)) {
    const names = Object.keys(needed);

    it(`${kind} names the first that it needs`, async () => {
      for (const none of [undefined, null, {}]) {
        if (names.length === 0) assert.ok(make(kind, none));
        else refuses(kind, none, new RegExp(`^(${names.join("|")}): .+ is not allowed; .+`));
      }
      for (const other of ["hunter2", 7, ["hunter2"]])
        refuses(kind, other, /^args: (this text|this number|\[…\]) is not allowed; it must be an object$/);
      await pulumi.runtime.disconnect();
    });

    it(`${kind} names each that it needs`, async () => {
      for (const name of names)
        for (const value of [undefined, null])
          refuses(kind, { ...needed, ...more, [name]: value }, new RegExp(`^${name}(\\.\\w+)?: .+ is not allowed; .+`));
      await pulumi.runtime.disconnect();
    });

    // As a program in YAML writes it.
    it(`${kind} takes null for what it does not need`, async () => {
      for (const name of Object.keys(more)) assert.ok(make(kind, { ...needed, [name]: null }), name);
      await pulumi.runtime.disconnect();
    });
  }

  // Pulumi's own text was shown of it, which names neither the property nor what is wrong.
  for (const [kind, { needed, more }] of Object.entries(components)) {
    it(`${kind} names what has to be known at once`, async () => {
      const refusal = (name: string): RegExp =>
        new RegExp(`^${name}(\\.\\w+)?: (a value that is known later|an output) is not`);
      refuses(kind, pulumi.output({ ...needed }), refusal("args"));
      for (const [name, value] of Object.entries({ ...needed, ...more })) {
        if (["vhost", "network", "broker"].includes(name)) continue;
        for (const later of [pulumi.output(value as object), Promise.resolve(value)])
          refuses(kind, { ...needed, ...more, [name]: later }, refusal(name));
      }
      await pulumi.runtime.disconnect();
    });
  }

  it("name what has to be known at once in a list", () => {
    const login = pulumi.output(credentials[0]);
    const refusal =
      /^credentials\[0\]: an output is not allowed; it must be an object .*, known before anything is made$/;
    refuses("EndpointUser", { user: "a", credentials: [login] }, refusal);
    refuses("DelayedMessageStore", { user: "a", credentials: [login] }, refusal);
    refuses("DelayGateway", { network, user: "a", credentials: [login] }, refusal);
  });

  it("take null for what a part does not need", async () => {
    const { needed, more } = components.RabbitMqCluster;
    assert.ok(make("RabbitMqCluster", { ...needed, ...more, tls: { issuer: "a", secretName: null } }));
    const login = { suffix: null, ...credentials[0] };
    const user = make("EndpointUser", { user: "a", credentials: [login] }) as { users: pulumi.Output<string[]> };
    assert.deepEqual(await new Promise((resolve) => user.users.apply(resolve)), ["a"]);
    assert.ok(make("DelayedMessageStore", { user: "a", credentials, deployment: { ...deployment, replicas: null } }));
    await pulumi.runtime.disconnect();
  });

  // It comes of a secret that was not found; a generated one would lock everybody out who has the right one.
  it("refuse null as a secret", () => {
    const secret = /password: null is not allowed; it must be a secret, or left out for a generated one$/;
    refuses("EndpointUser", { user: "a", credentials: [{ password: null }] }, secret);
    refuses("RabbitMqCluster", { ...components.RabbitMqCluster.needed, password: null }, secret);
  });

  // The program hung, and nothing was said.
  it("refuse a descriptor that is known later and is none, also without an engine", () => {
    const script = `
      const pulumi = require("@pulumi/pulumi");
      const newResource = ({ name, inputs }) => ({ id: name, state: inputs });
      pulumi.runtime.setMocks({ newResource, call: () => ({}) }, "project", "stack", false).then(() => {
        const { EndpointDelayBinding } = require("pulumi-rabbitmq-delay");
        const network = pulumi.output(Promise.resolve({ kind: "nope" }));
        new EndpointDelayBinding("sales", { endpoint: "Sales", createQueue: true, network });
      });`;
    const { status, stderr } = spawnSync(process.execPath, ["-e", script], { cwd: __dirname, encoding: "utf8" });
    assert.equal(status, 1, stderr);
    assert.match(stderr, /^.*DelayTopologyError: network\.kind: "nope" is not allowed; it must be "delay-network"$/m);
  });

  it("name what is missing of a broker's address, and a list that is none", () => {
    const { needed } = components.DelayedRetryQueue;
    refuses("DelayedRetryQueue", { ...needed, broker: {} }, /^broker\.managementUrl: undefined is not allowed/);
    refuses("DelayedRetryQueue", { ...needed, broker: "hunter2" }, /^broker: .* it must say where the broker is/);
    refuses("EndpointUser", { user: "a", credentials, consumes: "a" }, /^consumes: this text .* it must be a list$/);
  });
});
