import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";
import { DelayNetwork, delayNetwork } from "@rabbitmq-delay/topology";
import { rememberLook } from "pulumi-rabbitmq-delay/program";
import { Made, mockedComponents } from "./mocks";

const shape = { preset: "custom", prefix: "orders", radix: 2, levels: 2 } as const;

describe("what joins a network", () => {
  let made: Made<{ vhost?: unknown }>[] = [];
  let components: typeof import("pulumi-rabbitmq-delay");

  before(async () => {
    components = await mockedComponents<{ vhost?: unknown }>((one) => made.push(one));
  });

  beforeEach(() => (made = []));

  /** Where the children of the resources of a name were made. */
  async function placesOf(name: string, done: pulumi.Output<unknown>): Promise<[unknown[], (string | undefined)[]]> {
    await new Promise((resolve) => done.apply(resolve));
    await pulumi.runtime.disconnect();
    const children = made.filter((one) => one.type.startsWith("rabbitmq:") && one.name.startsWith(`${name}-`));
    assert.ok(children.length > 0);
    const placed = children.filter(({ type }) => !type.endsWith(":User"));
    return [
      [...new Set(placed.map(({ inputs }) => inputs.vhost))],
      [...new Set(children.map(({ provider }) => provider?.split("::").at(-2)))],
    ];
  }

  /** A provider of whose broker nothing is asked: there is none. */
  function broker(name: string): rabbitmq.Provider {
    const provider = new rabbitmq.Provider(name, { endpoint: "http://127.0.0.1:1", username: "a", password: "b" });
    rememberLook(provider);
    return provider;
  }

  // The binding was declared in the default vhost, where the network is not, unless every component was told the vhost again.
  it("is declared in the vhost and by the provider of a topology of the same program", async () => {
    const { DelayLevelTopology, EndpointDelayBinding, EndpointUser } = components;
    const provider = broker("own");
    const topology = new DelayLevelTopology("delay", { ...shape, vhost: pulumi.output("orders") }, { provider });
    const binding = new EndpointDelayBinding("Sales", { endpoint: "Sales", network: topology, createQueue: true });
    const credentials = [{ password: "a long password" }];
    const user = new EndpointUser("login", { user: "sales", credentials, network: topology.networkJson });
    assert.deepEqual(await placesOf("Sales", binding.bindingKeys), [["orders"], ["own"]]);
    assert.deepEqual(await placesOf("login", user.users), [["orders"], ["own"]]);
  });

  it("is declared by its own provider where it has one", async () => {
    const { DelayLevelTopology, EndpointDelayBinding } = components;
    const topology = new DelayLevelTopology("delay", shape, { provider: broker("own") });
    const options = { provider: broker("other") };
    const binding = new EndpointDelayBinding("Sales", { endpoint: "Sales", network: topology }, options);
    assert.deepEqual(await placesOf("Sales", binding.bindingKeys), [["/"], ["other"]]);
  });

  for (const [kind, wrap] of Object.entries({
    "a plain descriptor": (network: DelayNetwork) => network,
    "a descriptor out of another stack": (network: DelayNetwork) => pulumi.output(network),
    "a descriptor's JSON text": (network: DelayNetwork) => JSON.stringify(network),
    "a descriptor's JSON text out of another stack": (network: DelayNetwork) => pulumi.jsonStringify(network),
  })) {
    it(`is declared in the vhost of ${kind}`, async () => {
      const network = wrap(delayNetwork({ ...shape, vhost: "orders" })) as never;
      const binding = new components.EndpointDelayBinding("Sales", { endpoint: "Sales", network });
      assert.deepEqual((await placesOf("Sales", binding.bindingKeys))[0], ["orders"]);
    });

    it(`is declared in the vhost that is given beside ${kind} of version 1, and in / without one`, async () => {
      const earlier: DelayNetwork = { ...delayNetwork(shape), version: 1 };
      delete earlier.vhost;
      const network = wrap(earlier) as never;
      const first = new components.EndpointDelayBinding("Sales", { endpoint: "Sales", network, vhost: "orders" });
      const second = new components.EndpointDelayBinding("Audit", { endpoint: "Audit", network });
      assert.deepEqual((await placesOf("Sales", first.bindingKeys))[0], ["orders"]);
      assert.deepEqual((await placesOf("Audit", second.bindingKeys))[0], ["/"]);
    });
  }

  it("takes no other vhost than the network's", () => {
    const { DelayLevelTopology, EndpointDelayBinding, EndpointUser } = components;
    const message =
      /^DelayTopologyError: vhost: "other" is not allowed; the network is declared in "orders"; leave vhost out/;
    const topology = new DelayLevelTopology("delay", { ...shape, vhost: "orders" });
    const network = delayNetwork({ ...shape, vhost: "orders" }) as never;
    const text = JSON.stringify(network);
    for (const joined of [topology, topology.network, topology.networkJson, network, text].map((one) => ({
      network: one,
    }))) {
      assert.throws(
        () => new EndpointDelayBinding("Sales", { endpoint: "Sales", ...joined, vhost: "other" }),
        (error: Error) => message.test(String(error)),
      );
    }
    assert.throws(
      () => new EndpointUser("sales", { user: "sales", credentials: [{}], network, vhost: "other" }),
      (error: Error) => message.test(String(error)),
    );
    assert.doesNotThrow(
      () => new EndpointDelayBinding("Audit", { endpoint: "Audit", network: topology, vhost: "orders" }),
    );
  });
});
