import { strict as assert } from "node:assert";
import { Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as pulumi from "@pulumi/pulumi";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { ComponentName, componentKinds, resourceKinds, resourceRule } from "@rabbitmq-delay/topology/stack";
import type { RabbitMqClusterArgs } from "pulumi-rabbitmq-delay";

/**
 * A review judges a resource by the table of kinds: what a component makes and the table lacks would be passed as something of which
 * nothing is known, such as the cluster whose deletion takes all messages along.
 */
describe("the table of what components make", () => {
  let components: typeof import("pulumi-rabbitmq-delay");
  let made: Set<string>;

  /** Says which version a broker has, which one component asks for. */
  let api: Server;

  before(async () => {
    api = createServer((_, response) => {
      const overview = { rabbitmq_version: "4.3.6", management_version: "4.3.6" };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(overview));
    });
    await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
    await pulumi.runtime.setMocks(
      {
        newResource: ({ type, name, inputs }) => {
          made.add(type);
          return { id: `${name}-id`, state: { ...(inputs as object), result: "a".repeat(48) } };
        },
        call: () => ({}),
      },
      "project",
      "stack",
      true,
    );
    components = await import("pulumi-rabbitmq-delay");
  });
  after(() => void api.close());
  beforeEach(() => (made = new Set()));

  it("has every component, and no other", () => {
    const exported = Object.entries(components)
      .filter(([, value]) => typeof value === "function" && value.prototype instanceof pulumi.ComponentResource)
      .map(([name]) => name);
    assert.deepEqual(exported.sort(), Object.keys(componentKinds).sort());
  });

  it("has a rule for each type that a component makes, and says of each what its loss means", () => {
    for (const { makes } of Object.values(componentKinds))
      for (const type of makes) assert.ok(resourceRule(type), type);
    for (const [type, { loss, holds }] of Object.entries(resourceKinds)) {
      assert.match(loss, /^[A-Z].*\.$/, type);
      assert.ok(["messages", "ways", "access", "nothing"].includes(holds), type);
    }
  });

  const cluster = (more: object): RabbitMqClusterArgs =>
    ({
      namespace: "messaging",
      createNamespace: true,
      storage: { className: "fast" },
      tls: { issuer: "authority" },
      ingress: { host: "a.example.com", className: "nginx", tlsSecretName: "tls" },
      monitoring: { serviceMonitor: true, dashboard: true },
      ...more,
    }) as RabbitMqClusterArgs;
  const deployment = { namespace: "messaging", image: "store:1.0", amqpUrl: "amqp://b:5672", databaseSecret: "db" };

  const login = { credentials: [{ suffix: "a" }, { password: "the secret of b" }] };
  const broker = (): object => {
    const { port } = api.address() as AddressInfo;
    return { managementUrl: `http://127.0.0.1:${port}`, username: "a", password: "b", vhost: "/" };
  };
  const destinations = [{ exchange: "", routingKey: "work" }];
  /** A descriptor out of another stack, so that names are claimed, too. */
  const descriptor = (): never => delayNetwork({ preset: "custom", prefix: "orders" }) as never;

  /** Each component with all that it can make; the second text tells variants of one apart. */
  const makers: [ComponentName, string, (from: typeof components) => pulumi.ComponentResource][] = [
    ["DelayLevelTopology", "", (from) => new from.DelayLevelTopology("a", { preset: "custom", prefix: "b" } as never)],
    [
      "EndpointDelayBinding",
      "",
      (from) =>
        new from.EndpointDelayBinding("c", { endpoint: "Sales", network: descriptor(), createQueue: true } as never),
    ],
    ["RetryIntervalQueues", "", (from) => new from.RetryIntervalQueues("d", { intervals: [1000] })],
    ["WorkRetryQueues", "", (from) => new from.WorkRetryQueues("e", { queue: "work", delays: [1000] })],
    ["HoldQueues", "", (from) => new from.HoldQueues("f", { delays: [1000], destinations })],
    ["DelayedExchange", "", (from) => new from.DelayedExchange("m", { exchange: "orders", delays: [1000] })],
    ["ErrorQueues", "", (from) => new from.ErrorQueues("l", { names: ["error"] })],
    [
      "DelayedRetryQueue",
      "",
      (from) => new from.DelayedRetryQueue("g", { queue: "work", minMs: 1000, broker: broker() as never }),
    ],
    [
      "EndpointUser",
      "",
      (from) => new from.EndpointUser("h", { user: "sales", consumes: ["Sales"], network: descriptor(), ...login }),
    ],
    [
      "DelayedMessageStore",
      "",
      (from) => new from.DelayedMessageStore("i", { user: "store", ...login, deployment } as never),
    ],
    [
      "DelayGateway",
      "",
      (from) =>
        new from.DelayGateway("n", {
          network: descriptor(),
          user: "gateway",
          ...login,
          deployment: { namespace: "messaging", image: "gateway:1.0", amqpUrl: "amqp://b:5672" },
        } as never),
    ],
    ["RabbitMqCluster", " (StatefulSet)", (from) => new from.RabbitMqCluster("j", cluster({}))],
    ["RabbitMqCluster", " (operator)", (from) => new from.RabbitMqCluster("k", cluster({ mode: "operator" }))],
  ];
  for (const [name, variant, make] of makers) {
    it(`has all that ${name}${variant} makes, with secret passwords and the descriptor's text`, async () => {
      const component = make(components);
      const { password, passwords } = component as { password?: unknown; passwords?: unknown };
      for (const output of [password, passwords])
        if (output !== undefined) assert.ok(await pulumi.isSecret(output as pulumi.Output<unknown>));
      if (component instanceof components.RabbitMqCluster) void component.provider;
      for (const [output, text] of Object.entries(component)) {
        if (!output.endsWith("Json")) continue;
        const descriptor = (component as unknown as Record<string, unknown>)[output.slice(0, -"Json".length)];
        const both = pulumi.all([text, descriptor]) as unknown as { promise(): Promise<[string, object]> };
        const [json, object] = await both.promise();
        assert.deepEqual(JSON.parse(json), JSON.parse(JSON.stringify(object)));
      }
      await pulumi.runtime.disconnect();
      made.delete(`rabbitmq-delay:index:${name}`);
      assert.ok(made.size > 0, "it makes something");
      const unknown = [...made].filter((type) => !(componentKinds[name].makes as readonly string[]).includes(type));
      assert.deepEqual(unknown, [], `add them to componentKinds.${name}`);
    });
  }

  it("is asked for each component", () => {
    assert.deepEqual([...new Set(makers.map(([name]) => name))].sort(), Object.keys(componentKinds).sort());
  });
});
