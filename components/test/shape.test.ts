import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";
import { delayNetwork, retryIntervals as retryIntervalsOf } from "@rabbitmq-delay/topology";
import { rememberLook } from "pulumi-rabbitmq-delay/program";
import { Made, mockedComponents } from "./mocks";

/** Mocks see types, names and inputs only; parents, retention and aliases are checked on the real engine. */
describe("components' children", () => {
  let made: Made[] = [];
  let components: typeof import("pulumi-rabbitmq-delay");

  before(async () => {
    components = await mockedComponents((one) => made.push(one));
  });

  beforeEach(() => (made = []));

  async function childrenOf(
    create: () => {
      network?: pulumi.Output<unknown>;
      bindingKeys?: pulumi.Output<unknown>;
      retryIntervals?: pulumi.Output<unknown>;
      workRetry?: pulumi.Output<unknown>;
      holdQueues?: pulumi.Output<unknown>;
      delayedStore?: pulumi.Output<unknown>;
      users?: pulumi.Output<unknown>;
      names?: pulumi.Output<unknown>;
    },
  ): Promise<Made[]> {
    const { network, bindingKeys, retryIntervals, workRetry, holdQueues, delayedStore, users, names } = create();
    await new Promise((resolve) =>
      pulumi
        .all([network, bindingKeys, retryIntervals, workRetry, holdQueues, delayedStore, users, names])
        .apply(resolve),
    );
    await pulumi.runtime.disconnect();
    return made.filter(({ type }) => type.startsWith("rabbitmq:"));
  }

  const count = (children: Made[], type: string): number =>
    children.filter((child) => child.type.endsWith(`:${type}`)).length;

  it("a network has exactly its planned entities, with sorted compact arguments", async () => {
    const children = await childrenOf(() => new components.DelayLevelTopology("delay", { preset: "nservicebus" }));
    assert.deepEqual(
      ["Exchange", "Queue", "Binding", "Policy"].map((type) => count(children, type)),
      [30, 29, 57, 2],
    );
    const level = children.find(({ name }) => name === "delay-nsb.v2.delay-level-03" && /Queue/.test(name) === false);
    assert.ok(level);
    const queue = children.find(({ type, name }) => type.endsWith("Queue") && name === "delay-nsb.v2.delay-level-03");
    assert.deepEqual(queue?.inputs, {
      name: "nsb.v2.delay-level-03",
      vhost: "/",
      settings: {
        durable: true,
        autoDelete: false,
        argumentsJson:
          '{"x-dead-letter-exchange":"nsb.v2.delay-level-02","x-dead-letter-strategy":"at-least-once","x-message-ttl":8000,' +
          '"x-overflow":"reject-publish","x-queue-type":"quorum"}',
      },
    });
  });

  it("without parking there is neither its policy nor its queue", async () => {
    const children = await childrenOf(
      () => new components.DelayLevelTopology("delay", { preset: "celery", parking: false }),
    );
    assert.deepEqual(
      ["Exchange", "Queue", "Binding", "Policy"].map((type) => count(children, type)),
      [29, 28, 56, 1],
    );
    assert.deepEqual(
      children.filter(({ type }) => type.endsWith(":Policy")).map(({ inputs }) => inputs.name),
      ["celery_delayed_delivery-limit"],
    );
  });

  it("every logical name is unique within its type", async () => {
    const children = await childrenOf(
      () => new components.DelayLevelTopology("delay", { preset: "custom", prefix: "a", radix: 16, levels: 4 }),
    );
    assert.equal(new Set(children.map(({ type, name }) => `${type} ${name}`)).size, children.length);
    assert.deepEqual(
      ["Exchange", "Queue", "Binding", "Policy"].map((type) => count(children, type)),
      [6, 61, 65, 2],
    );
  });

  it("an endpoint is a binding per pattern, and its queue where asked for", async () => {
    const network = delayNetwork({ preset: "nservicebus" });
    const { EndpointDelayBinding } = components;
    const one = await childrenOf(() => new EndpointDelayBinding("Sales", { endpoint: "Sales", network }));
    assert.deepEqual(
      one.filter(({ type }) => !type.endsWith(":Exchange")).map(({ inputs }) => inputs),
      [
        {
          source: "nsb.v2.delay-delivery",
          vhost: "/",
          destination: "Sales",
          destinationType: "queue",
          routingKey: `${"*.".repeat(28)}Sales`,
        },
      ],
    );
    const args = {
      endpoint: "Sales",
      network: pulumi.output(network),
      patterns: ["Sales", "Sales.*"],
      createQueue: true,
    };
    made = [];
    const three = await childrenOf(() => new EndpointDelayBinding("Sales", args));
    assert.deepEqual(
      ["Queue", "Binding", "Exchange", "Policy"].map((type) => count(three, type)),
      [1, 2, 1, 1],
    );
    const limit = three.find(({ type }) => type.endsWith(":Policy"));
    assert.equal(limit?.inputs.name, "nsb.Sales.delivery-limit", "what NServiceBus itself declares");
    assert.deepEqual((limit.inputs.policy as { definition: unknown }).definition, { "delivery-limit": "100000" });
    const claim = three.find(({ type }) => type.endsWith(":Exchange"));
    assert.equal(claim?.inputs.name, "rabbitmq-delay.owner-of-endpoint.Sales");
    assert.deepEqual((claim.inputs.settings as { arguments: unknown }).arguments, {
      "alternate-exchange": "project/stack",
    });
  });

  it("a queue that is given a delivery limit counts on purpose, and keeps it", async () => {
    const network = delayNetwork({ preset: "celery" });
    const args = { endpoint: "Sales", network, createQueue: true, queueArguments: { "x-delivery-limit": 5 } };
    const children = await childrenOf(() => new components.EndpointDelayBinding("Sales", args));
    assert.deepEqual(
      ["Queue", "Binding", "Policy"].map((type) => count(children, type)),
      [1, 1, 0],
    );
  });

  it("an exchange can be the endpoint, under another name than its destinations", async () => {
    const network = delayNetwork({ preset: "celery" });
    const args = { endpoint: "tasks", endpointType: "exchange" as const, patterns: ["celery"], network };
    const children = await childrenOf(() => new components.EndpointDelayBinding("tasks", args));
    const binding = children.find(({ type }) => type.endsWith(":Binding"));
    assert.equal(binding?.inputs.destinationType, "exchange");
    assert.equal(binding?.inputs.routingKey, `${"*.".repeat(28)}celery`);
  });

  it("interval queues are an exchange and a queue each, and bring messages back to a queue by its name", async () => {
    const { EndpointDelayBinding, RetryIntervalQueues } = components;
    const children = await childrenOf(() => new RetryIntervalQueues("retries", { intervals: ["5s", "1m"] }));
    assert.deepEqual(
      ["Exchange", "Queue", "Binding", "Policy"].map((type) => count(children, type)),
      [4, 3, 3, 2],
    );
    made = [];
    const bare = await childrenOf(() => new RetryIntervalQueues("bare", { intervals: ["5s", "1m"], parking: false }));
    assert.deepEqual(
      ["Exchange", "Queue", "Binding", "Policy"].map((type) => count(bare, type)),
      [3, 2, 2, 0],
    );
    made = [];
    const retryIntervals = new RetryIntervalQueues("more", { intervals: [1], prefix: "own" }).retryIntervals;
    const beside = { endpoint: "Sales", retryIntervals, network: delayNetwork({ preset: "celery" }) };
    const bindings = await childrenOf(() => new EndpointDelayBinding("Sales", beside));
    assert.deepEqual(
      bindings
        .filter(({ type, name }) => type.endsWith(":Binding") && name.startsWith("Sales-"))
        .map(({ name, inputs }) => `${name}: ${String(inputs.source)} ${String(inputs.routingKey).slice(-5)}`),
      ["Sales-Sales: celery_delayed_delivery Sales", "Sales-/return: own-return Sales"],
    );
  });

  it("messages come back by the name of the queue itself: its consumer knows no other, and they would be lost", async () => {
    const { EndpointDelayBinding } = components;
    const retryIntervals = retryIntervalsOf({ intervals: [5] });
    const keysOf = async (
      destination: pulumi.Input<string>,
      descriptor: pulumi.Input<typeof retryIntervals>,
    ): Promise<unknown[]> => {
      made = [];
      const args = { endpoint: "Billing", destination, retryIntervals: descriptor };
      const [binding] = await childrenOf(() => new EndpointDelayBinding("billing", args));
      return [binding?.inputs.source, binding?.inputs.destination, binding?.inputs.routingKey];
    };
    const expected = ["mt-delay-return", "billing-v2", "billing-v2"];
    assert.deepEqual(await keysOf("billing-v2", retryIntervals), expected);
    assert.deepEqual(await keysOf(pulumi.output("billing-v2"), retryIntervals), expected);
    assert.deepEqual(await keysOf("billing-v2", pulumi.output(retryIntervals)), expected);
  });

  it("a work queue has an exchange and a queue for itself, each delay and its dead", async () => {
    const args = { queue: "work", delays: ["5s", "1m"] };
    const children = await childrenOf(() => new components.WorkRetryQueues("work", args));
    assert.deepEqual(
      ["Exchange", "Queue", "Binding", "Policy"].map((type) => count(children, type)),
      [4, 4, 4, 4],
    );
  });

  it("a delivery limit is lifted as the broker's version wants it; where nobody knows that, as all brokers take it", async () => {
    const policyOf = async (brokerVersion?: string): Promise<unknown> => {
      made = [];
      const args = { queue: "work", delays: [5], brokerVersion };
      const children = await childrenOf(() => new components.WorkRetryQueues("work", args));
      return children.find(({ name }) => name === "work-work.delivery-limit")?.inputs.policy;
    };
    const common = { pattern: "^work$", priority: 100 };
    const none = { ...common, applyTo: "quorum_queues", definition: { "delivery-limit": "-1" } };
    assert.deepEqual(await policyOf("4.0.5"), none);
    assert.deepEqual(await policyOf("4.3.6"), none);
    const high = { ...common, applyTo: "queues", definition: { "delivery-limit": "2147483647" } };
    assert.deepEqual(await policyOf(), high);
    assert.equal(await policyOf("3.13.7"), undefined);
    await assert.rejects(policyOf("newest"), /brokerVersion: this text is not allowed/);
  });

  it("an error queue stands behind an exchange of its name, so that its users need no default exchange", async () => {
    const network = delayNetwork({ preset: "celery" });
    const args = { endpoint: "Sales", network, errorQueue: "Sales.errors" };
    const children = await childrenOf(() => new components.EndpointDelayBinding("Sales", args));
    assert.deepEqual(children.map(({ type, name }) => `${type.split(":").at(-1)} ${name}`).sort(), [
      "Binding Sales-Sales",
      "Binding Sales-Sales.errors-to-Sales.errors",
      "Exchange Sales-Sales.errors",
      "Exchange Sales-rabbitmq-delay.owner-of-endpoint.Sales",
      "Policy Sales-Sales.errors.delivery-limit",
      "Queue Sales-Sales.errors",
    ]);
  });

  it("an endpoint of Celery is its queue behind a topic exchange, with the bindings that a worker makes", async () => {
    const network = delayNetwork({ preset: "celery" });
    const args = { endpoint: "orders", network, client: "celery" as const };
    const children = await childrenOf(() => new components.EndpointDelayBinding("orders", args));
    const bindings = children.filter(({ type }) => type.endsWith(":Binding")).map(({ inputs }) => inputs);
    assert.deepEqual(
      bindings.map((inputs) => [inputs.source, inputs.destinationType, inputs.destination, inputs.routingKey]).sort(),
      [
        ["celery_delayed_delivery", "exchange", "orders", "#.orders"],
        ["orders", "queue", "orders", "#.orders"],
        ["orders", "queue", "orders", "orders"],
      ],
    );
    const exchange = children.find(({ name }) => name === "orders-orders");
    assert.equal((exchange?.inputs.settings as { type?: string } | undefined)?.type, "topic");
  });

  it("hold queues are one per delay and destination, and nothing else", async () => {
    const destinations = [
      { exchange: "a/b@c", routingKey: "x" },
      { exchange: "", routingKey: "y" },
    ];
    const args = { delays: [5, 10, "1s"], destinations, leaseMs: 60_000 };
    const children = await childrenOf(() => new components.HoldQueues("holds", args));
    assert.equal(children.length, 6);
    assert.equal(count(children, "Queue"), 6);
    assert.equal(children[0]?.inputs.name, "hold.5+60000.5:a%2Fb%40c:x");
  });

  it("error queues are each a queue behind a fanout exchange of its name, with the policy of its delivery limit", async () => {
    const children = await childrenOf(() => new components.ErrorQueues("errors", { names: ["error", "audit"] }));
    assert.deepEqual(children.map(({ type, name }) => `${type.split(":").pop()} ${name}`).sort(), [
      "Binding errors-audit-to-audit",
      "Binding errors-error-to-error",
      "Exchange errors-audit",
      "Exchange errors-error",
      "Policy errors-audit.delivery-limit",
      "Policy errors-error.delivery-limit",
      "Queue errors-audit",
      "Queue errors-error",
    ]);
    const inputsOf = (kind: string): object | undefined =>
      children.find(({ type, name }) => type.endsWith(`:${kind}`) && name.startsWith("errors-error"))?.inputs;
    assert.deepEqual(inputsOf("Queue"), {
      name: "error",
      vhost: "/",
      settings: { durable: true, autoDelete: false, argumentsJson: '{"x-queue-type":"quorum"}' },
    });
    assert.deepEqual(inputsOf("Binding"), {
      source: "error",
      vhost: "/",
      destination: "error",
      destinationType: "queue",
      routingKey: "",
    });
    made = [];
    const before4 = await childrenOf(
      () => new components.ErrorQueues("older", { names: ["error"], queueType: "classic", brokerVersion: "3.10.8" }),
    );
    assert.equal(count(before4, "Policy"), 0);
    const classic = before4.find(({ type }) => type.endsWith(":Queue"))?.inputs.settings as { argumentsJson?: string };
    assert.equal(classic.argumentsJson, "{}");
  });

  it("a store has its queues and exchanges, and a user for each login with the least rights", async () => {
    const forwards = [{ exchange: "orders.delayed", delivery: "orders" }];
    const credentials = ["a", "b"].map((suffix) => ({ suffix, password: `the secret of ${suffix}` }));
    const args = { forwards, toQueues: false, user: "store", credentials };
    const children = await childrenOf(() => new components.DelayedMessageStore("store", args));
    assert.deepEqual(
      ["Exchange", "Queue", "Binding", "User", "Permissions", "Policy"].map((type) => count(children, type)),
      // Three of the exchanges are claims: of the user, and of each login.
      [8, 3, 4, 2, 2, 3],
    );
    assert.equal(children.length, 22);
    const [rights] = children.filter(({ type }) => type.endsWith(":Permissions"));
    assert.deepEqual(rights?.inputs.permissions, {
      configure: "^$",
      write: "^(?:delayed\\.error|amq\\.default|orders)$",
      read: "^(?:delayed\\.intake|delayed\\.control)$",
    });
  });

  it("a gateway has its queues and exchanges, the way back from its network, and a user that may use no more", async () => {
    const forwards = [{ exchange: "shop", delivery: "shop.delivery" }];
    const network = delayNetwork({ preset: "custom", prefix: "orders", radix: 2, levels: 3 });
    const args = { network, forwards, toQueues: false, user: "gateway", credentials: [{ password: "the password" }] };
    const children = await childrenOf(() => new components.DelayGateway("gateway", args));
    assert.deepEqual(
      ["Exchange", "Queue", "Binding", "User", "Permissions", "Policy"].map((type) => count(children, type)),
      // Two of the exchanges are claims: of the user, and of the network's endpoint.
      [6, 3, 4, 1, 1, 3],
    );
    assert.equal(children.length, 18);
    const back = children.find(
      ({ type, inputs }) => type.endsWith(":Binding") && inputs.destination === "gateway.return",
    );
    assert.equal(back?.inputs.source, network.bindingExchange);
    assert.equal(back?.inputs.routingKey, "*.*.*.gateway.return");
    const [rights] = children.filter(({ type }) => type.endsWith(":Permissions"));
    const entries = network.entryExchanges.map((name) => name.replaceAll(".", "\\.")).join("|");
    assert.deepEqual(rights?.inputs.permissions, {
      configure: "^$",
      write: `^(?:gateway\\.error|amq\\.default|shop\\.delivery|${entries})$`,
      read: "^(?:gateway\\.intake|gateway\\.return)$",
    });
  });

  it("refuses before the first resource is made", () => {
    const { DelayLevelTopology, EndpointDelayBinding, RetryIntervalQueues } = components;
    const { WorkRetryQueues, HoldQueues, ErrorQueues, DelayedRetryQueue, DelayedMessageStore } = components;
    const broker = { managementUrl: "http://127.0.0.1:1", username: "a", password: "b" };
    const destinations = [{ exchange: "", routingKey: "y" }];
    const network = delayNetwork({ preset: "nservicebus" });
    const retryIntervals = retryIntervalsOf({ intervals: [5000] });
    const refused: [() => unknown, RegExp][] = [
      [() => new DelayLevelTopology("x", { preset: "unknown" as "celery" }), /^DelayTopologyError: preset/],
      [() => new DelayLevelTopology("x", { preset: "celery", removal: "keep" as "retain" }), /removal: "keep"/],
      [() => new EndpointDelayBinding("x", { endpoint: "a" }), /^DelayTopologyError: network: .*or retryIntervals/],
      [() => new EndpointDelayBinding("x", { endpoint: "a.*", network }), /endpoint\.name/],
      [() => new EndpointDelayBinding("x", { endpoint: "a", network: { ...network, version: 3 } }), /version: 3/],
      [
        () => new EndpointDelayBinding("x", { endpoint: "a", network, createQueue: true, endpointType: "exchange" }),
        /createQueue/,
      ],
      [() => new EndpointDelayBinding("x", { endpoint: "a", network, queueType: "quorum" }), /queueType/],
      [
        () => new EndpointDelayBinding("x", { endpoint: "a", network, client: "nservicebus", endpointType: "queue" }),
        /^DelayTopologyError: endpointType: "queue" is not allowed; client: nservicebus decides it/,
      ],
      [
        () => new EndpointDelayBinding("x", { endpoint: "a", network, client: "celery" }),
        /^DelayTopologyError: client: "celery" is not allowed; .* this one is nservicebus/,
      ],
      [
        () => new EndpointDelayBinding("x", { endpoint: "a", network, client: "celery", endpointType: "queue" }),
        /^DelayTopologyError: endpointType: "queue" is not allowed; client: celery decides it/,
      ],
      [() => new RetryIntervalQueues("x", { intervals: [] }), /intervals: \[\]/],
      [() => new EndpointDelayBinding("x", { endpoint: "a", retryIntervals, patterns: ["b"] }), /patterns/],
      [
        () => new EndpointDelayBinding("x", { endpoint: "a", retryIntervals, endpointType: "exchange" }),
        /endpointType/,
      ],
      [() => new WorkRetryQueues("x", { queue: "work", delays: [5], maxRetries: -1 }), /maxRetries: -1/],
      [() => new WorkRetryQueues("x", { queue: "work", delays: [5], removal: "keep" as "retain" }), /removal: "keep"/],
      [() => new HoldQueues("x", { delays: [5], destinations, leaseMs: 5, queueType: "quorum" }), /leaseMs: 5/],
      [() => new HoldQueues("x", { delays: [5, 5], destinations }), /delays\[1\]: 5/],
      [() => new ErrorQueues("x", { names: ["error", "error"] }), /names\[1\]: "error"/],
      [() => new ErrorQueues("x", { names: ["error"], removal: "keep" as "retain" }), /removal: "keep"/],
      [() => new ErrorQueues("x", { names: ["error"], queues: 1 } as never), /queues/],
      [() => new DelayedMessageStore("x", { storeName: "amq.x" }), /storeName: "amq\.x"/],
      [() => new DelayedMessageStore("x", { exchanges: ["delayed"] }), /exchanges\[0\]: "delayed"/],
      [() => new DelayedMessageStore("x", { user: "store" }), /credentials: undefined/],
      [() => new DelayedMessageStore("x", { credentials: [{ password: "the secret of a" }] }), /user: undefined/],
      [() => new DelayedRetryQueue("x", { queue: "work", minMs: 0, broker }), /minMs: 0/],
      [() => new components.DelayGateway("x", {} as never), /^DelayTopologyError: network: undefined/],
      [() => new components.DelayGateway("x", { network, gatewayName: "amq.x" }), /gatewayName: "amq\.x"/],
      [() => new components.DelayGateway("x", { network, user: "gateway" }), /credentials: undefined/],
      [
        () => new components.DelayGateway("x", { network, exchanges: [network.entryExchanges[0] as string] }),
        /exchanges\[0\].*the network has an exchange/,
      ],
      [() => new components.DelayGateway("x", { network, storeName: "x" } as never), /storeName/],
    ];
    for (const [create, message] of refused) assert.throws(create, message);
    assert.deepEqual(made, []);
  });

  it("a delayed retry queue asks its provider's broker for the version, and refuses a provider that can't be asked", async () => {
    const { DelayedRetryQueue } = components;
    const args = { queue: "work", minMs: 5 };
    assert.throws(() => new DelayedRetryQueue("none", args), /^DelayTopologyError: broker: undefined is not allowed/);
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.url} ${Buffer.from(request.headers.authorization?.slice(6) ?? "", "base64").toString()}`);
      response.end(JSON.stringify({ rabbitmq_version: "4.3.6" }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provider = new rabbitmq.Provider("own", { endpoint, username: "a", password: "b" });
    rememberLook(provider);
    const { delayedRetry } = new DelayedRetryQueue("asks", args, { provider });
    await new Promise((resolve) => delayedRetry.apply(resolve));
    server.close();
    assert.deepEqual(asked, ["/api/overview a:b"]);
  });

  it("refuses a second endpoint of the same topology that it can't tell from the first", () => {
    const topology = new components.DelayLevelTopology("t", {
      preset: "custom",
      prefix: "s",
      levels: 2,
      matching: "suffix",
    });
    new components.EndpointDelayBinding("one", { endpoint: "Sales", network: topology });
    assert.throws(
      () => new components.EndpointDelayBinding("two", { endpoint: "Europe.Sales", network: topology }),
      /Europe\.Sales.*Sales/,
    );
  });
});
