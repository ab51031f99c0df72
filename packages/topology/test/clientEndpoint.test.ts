import { strict as assert } from "node:assert";
import { Endpoint, EndpointPlan, delayNetwork, planBinding, planEntities } from "@rabbitmq-delay/topology";
import {
  OwnEndpoint,
  auditBroker,
  boundType,
  planAccess,
  planEndpoints,
  planOwnEntities,
  planStack,
} from "@rabbitmq-delay/topology/stack";

const fanout = (name: string): object => ({ name, type: "fanout", durable: true });
const behind = (name: string): object => ({
  source: name,
  destination: name,
  destinationType: "queue",
  routingKey: "",
});
const byTopic = (name: string): object[] =>
  [name, `#.${name}`].map((routingKey) => ({
    source: name,
    destination: name,
    destinationType: "queue",
    routingKey,
  }));
const quorum = { "x-queue-type": "quorum" };

describe("planOwnEntities", () => {
  const plans: [string, OwnEndpoint, "queue" | "exchange", object | undefined][] = [
    ["nothing for a queue that is there", { name: "a" }, "queue", undefined],
    [
      "a queue of one's own",
      { name: "a", createQueue: true, queueArguments: { "x-delivery-limit": 5 } },
      "queue",
      {
        exchanges: [],
        queues: [{ name: "a", durable: true, arguments: { "x-delivery-limit": 5, ...quorum } }],
        bindings: [],
      },
    ],
    [
      "NServiceBus, conventional",
      { name: "a", client: "nservicebus" },
      "exchange",
      { exchanges: [fanout("a")], queues: [{ name: "a", durable: true, arguments: quorum }], bindings: [behind("a")] },
    ],
    [
      "NServiceBus, classic queues",
      { name: "a", client: "nservicebus", queueType: "classic" },
      "exchange",
      { exchanges: [fanout("a")], queues: [{ name: "a", durable: true, arguments: {} }], bindings: [behind("a")] },
    ],
    [
      "NServiceBus, direct",
      { name: "a", client: "nservicebus", routingTopology: "direct" },
      "queue",
      { exchanges: [], queues: [{ name: "a", durable: true, arguments: quorum }], bindings: [] },
    ],
    [
      "MassTransit, classic queues",
      { name: "a", client: "masstransit", queueType: "classic" },
      "queue",
      { exchanges: [fanout("a")], queues: [{ name: "a", durable: true, arguments: {} }], bindings: [behind("a")] },
    ],
    [
      "the exchange of a message type of MassTransit",
      { name: "Shop:Order", client: "masstransit", type: "exchange" },
      "exchange",
      { exchanges: [fanout("Shop:Order")], queues: [], bindings: [] },
    ],
    [
      "Celery, with its exchange bound as a worker binds it",
      { name: "orders", client: "celery" },
      "exchange",
      {
        exchanges: [{ name: "orders", type: "topic", durable: true }],
        queues: [{ name: "orders", durable: true, arguments: quorum }],
        bindings: byTopic("orders"),
      },
    ],
    [
      "Celery, a classic queue beside quorum queues",
      { name: "a", client: "celery", queueType: "classic" },
      "exchange",
      {
        exchanges: [{ name: "a", type: "topic", durable: true }],
        queues: [{ name: "a", durable: true, arguments: {} }],
        bindings: byTopic("a"),
      },
    ],
  ];
  for (const [what, endpoint, type, plan] of plans) {
    it(`plans ${what}`, () => {
      assert.deepEqual(planOwnEntities(endpoint), plan);
      assert.equal(boundType(endpoint), type);
    });
  }

  const refused: [object, RegExp][] = [
    [{ client: "sidekiq" }, /^DelayTopologyError: client: "sidekiq"/],
    [{ client: "celery", type: "queue" }, /type: "queue" is not allowed; client: celery decides it/],
    [{ client: "celery", patterns: ["a"] }, /patterns: /],
    [{ client: "celery", createQueue: false }, /createQueue: false is not allowed; .* the queue is declared/],
    [{ client: "celery", name: "a.*" }, /endpoint\.name: "a\.\*" is not allowed; .*wildcards/],
    [{ client: "celery", routingTopology: "direct" }, /routingTopology: "direct" .*client: nservicebus/],
    [{ client: "nservicebus", type: "queue" }, /type: "queue" is not allowed; client: nservicebus decides it/],
    [{ client: "nservicebus", patterns: ["a"] }, /patterns: /],
    [{ client: "nservicebus", queueArguments: {} }, /queueArguments: /],
    [{ client: "nservicebus", createQueue: false }, /createQueue: false is not allowed; .* the queue is declared/],
    [{ client: "nservicebus", routingTopology: "fanout" }, /routingTopology: "fanout"/],
    [{ client: "nservicebus", queueType: "stream" }, /queueType: "stream"/],
    [{ client: "masstransit" }, /queueType: .*classic queues, or quorum queues after SetQuorumQueue/],
    [{ client: "masstransit", routingTopology: "direct", queueType: "quorum" }, /routingTopology: "direct"/],
    [{ client: "masstransit", type: "exchange", queueType: "quorum" }, /queueType: "quorum".*has no queue/],
    [{ routingTopology: "direct" }, /routingTopology: "direct" is not allowed; it goes with client: nservicebus/],
    [{ queueType: "quorum" }, /queueType: .*go with createQueue/],
  ];
  for (const [endpoint, message] of refused) {
    it(`refuses ${JSON.stringify(endpoint)}`, () => {
      assert.throws(() => planOwnEntities({ name: "a", ...endpoint } as OwnEndpoint), message);
    });
  }

  const plan = (config: object): ReturnType<typeof planStack> => planStack(config as never, "/");

  it("is refused in a stack with its place, and on a network that the client does not use", () => {
    const endpoints = [{ name: "a", client: "nservicebus" as const }];
    assert.throws(
      () => plan({ network: { preset: "celery" }, endpoints }),
      /endpoints\[0\]\.client: "nservicebus" is not allowed; .* this one is celery/,
    );
    const both = { network: { preset: "celery" as const }, networks: { nsb: { preset: "nservicebus" as const } } };
    assert.equal(plan({ ...both, current: "nsb", endpoints }).created.length, 1);
    assert.throws(
      () => plan({ network: { preset: "celery" }, endpoints: [{ name: "b", client: "masstransit" }] }),
      /endpoints\[0\]\.queueType: /,
    );
  });
});

describe("an endpoint of Celery", () => {
  const network = delayNetwork({ preset: "celery" });
  const planned = (endpoint: Endpoint, preset: "celery" | "custom" = "celery"): string[] =>
    planBinding(preset === "celery" ? network : delayNetwork({ preset, prefix: "own" }), endpoint).bindings.map(
      ({ routingKey }) => routingKey,
    );

  it("has the one binding that a worker makes, in the place of an exact one, on Celery's networks alone", () => {
    assert.deepEqual(planned({ name: "orders", type: "exchange", client: "celery" }), ["#.orders"]);
    assert.deepEqual(planned({ name: "orders" }), [`${"*.".repeat(28)}orders`]);
    assert.match(planned({ name: "orders", type: "exchange", client: "celery" }, "custom")[0] ?? "", /^\*\./);
  });

  it("is bound for an audit, too, when a worker has bound it", () => {
    const [endpoint] = [{ name: "orders", type: "exchange" as const, client: "celery" as const }];
    const entity = { name: "orders", durable: true };
    const source = network.deliveryExchange;
    const bound = (routingKey: string): string[] => {
      const bindings = [{ source, destination: "orders", destinationType: "exchange" as const, routingKey }];
      return auditBroker(network, [endpoint], { bindings, queues: [], exchanges: [entity] }).map(({ rule }) => rule);
    };
    assert.deepEqual(bound("#.orders"), []);
    assert.deepEqual(bound("#.others"), ["unbound"]);
  });

  it("is refused beside another one whose name its binding would take too, unless that is allowed", () => {
    const endpoints = [
      { name: "orders", client: "celery" as const },
      { name: "eu.orders", client: "celery" as const },
    ];
    const stack = { network: { preset: "celery" as const }, endpoints };
    const plan = (allow: string[]): EndpointPlan[] =>
      planEndpoints(planStack(stack as never, "/"), { endpoints, allow });
    assert.throws(() => plan([]), /clients bind #\.orders, which takes the messages for eu\.orders too/);
    assert.equal(plan(["orders with eu.orders"]).length, 2);
  });

  it("is refused where it joins no network that Celery sends to", () => {
    const endpoints = [{ name: "a", client: "celery" as const }];
    const networks = { own: { preset: "custom" as const, prefix: "own" } };
    assert.throws(
      () => planStack({ networks, endpoints } as never, "/"),
      /endpoints\[0\]\.client: "celery" is not allowed; Celery delays by networks of the preset celery, .*custom/,
    );
    const both = { network: { preset: "celery" as const }, networks, current: "own", endpoints };
    assert.equal(planStack(both as never, "/").created.length, 1);
  });
});

describe("planAccess for a client", () => {
  const network = delayNetwork({ preset: "nservicebus", matching: "enforced" });
  const matches = (pattern: string, name: string): boolean => new RegExp(pattern).test(name);

  it("lets NServiceBus bind its destinations to the delivery exchange, and nothing be declared", () => {
    const access = planAccess({ client: "nservicebus", network, consumes: ["Sales"], destinations: ["Billing"] });
    assert.deepEqual([access.configure, access.tags], ["^$", ["management"]]);
    for (const name of ["Sales", "Billing", ...network.entryExchanges]) assert.ok(matches(access.write, name), name);
    for (const name of ["Sales", network.deliveryExchange]) assert.ok(matches(access.read, name), name);
    for (const name of [network.bindingExchange, "Billing", "amq.default", "nsb.v2.delay-level-00"]) {
      assert.ok(!matches(access.read, name), name);
    }
    assert.ok(!matches(access.write, network.deliveryExchange) && !matches(access.write, network.bindingExchange));
  });

  it("lets NServiceBus bind by the names of its destinations alone, so that it reads nobody else's messages", () => {
    const access = planAccess({ client: "nservicebus", network, consumes: ["Sales"], destinations: ["a.b"] });
    const [limit, ...more] = access.topics.filter(({ exchange }) => exchange === network.deliveryExchange);
    assert.deepEqual([limit?.write, more], ["^$", []]);
    for (const key of ["#.Sales", "#.a.b"]) assert.ok(matches(limit?.read ?? "", key), key);
    for (const key of ["#", "", "Sales", "#.Billing", "#.Europe.Sales", "#.aXb", "*.Sales", "#.Sales.#"])
      assert.ok(!matches(limit?.read ?? "", key), key);
  });

  it("lets NServiceBus subscribe to its events alone, and send by the default exchange in the direct topology alone", () => {
    const given = { client: "nservicebus", network, consumes: ["Sales"], destinations: [] } as const;
    const conventional = planAccess({ ...given, destinations: [], consumes: ["Sales"], messageTypes: ["Shop:Placed"] });
    for (const kind of ["configure", "write", "read"] as const) {
      assert.ok(matches(conventional[kind], "Shop:Placed") && !matches(conventional[kind], "Shop:Other"), kind);
      assert.ok(!matches(conventional[kind], "amq.default"), kind);
    }
    const direct = planAccess({ ...given, destinations: [], consumes: ["Sales"], routingTopology: "direct" });
    assert.ok(matches(direct.write, "amq.default") && !matches(direct.read, "amq.default"));
    assert.equal(direct.configure, "^$");
  });

  it("lets MassTransit declare what it declares by itself, and nothing else", () => {
    const messageTypes = ["Shop:Order"];
    const access = planAccess({ client: "masstransit", network, consumes: ["orders"], messageTypes });
    assert.deepEqual(access.tags, []);
    for (const name of ["orders", "orders_error", "orders_skipped", "Shop:Order"]) {
      for (const kind of ["configure", "write", "read"] as const)
        assert.ok(matches(access[kind], name), `${kind} ${name}`);
    }
    for (const name of network.entryExchanges)
      assert.ok(matches(access.configure, name) && matches(access.write, name));
    for (const name of ["orders2", "Shop:Order2", network.deliveryExchange, "amq.default"]) {
      for (const kind of ["configure", "write", "read"] as const)
        assert.ok(!matches(access[kind], name), `${kind} ${name}`);
    }
  });

  it("lets a worker of Celery declare the network and its own queue, and publish to its own alone", () => {
    const celery = delayNetwork({ preset: "celery" });
    const access = planAccess({ client: "celery", network: celery, consumes: ["orders"], destinations: ["mails"] });
    assert.deepEqual(access.tags, []);
    for (const kind of ["configure", "write", "read"] as const) {
      for (const name of ["orders", "mails", "celery_delayed_0", "celery_delayed_27", "celery_delayed_delivery"])
        assert.ok(matches(access[kind], name), `${kind} ${name}`);
      for (const name of ["amq.default", "celery.pidbox", "celeryev", "orders2", celery.parkingQueue as string])
        assert.ok(!matches(access[kind], name), `${kind} ${name}`);
    }
    const limits = new Map(access.topics.map((limit) => [limit.exchange, limit]));
    assert.equal(limits.size, 29);
    const [longest, level3, delivery] = ["27", "3", "delivery"].map((end) => limits.get(`celery_delayed_${end}`));
    assert.ok(matches(longest?.write ?? "", `${"0.".repeat(27)}1.mails`));
    assert.ok(!matches(longest?.write ?? "", `${"0.".repeat(27)}1.billing`));
    assert.equal(level3?.write, "^$");
    for (const { source, routingKey } of planEntities(celery).bindings) {
      const limit = limits.get(source);
      if (limit !== undefined) assert.ok(matches(limit.read, routingKey), `${source} by ${routingKey}`);
    }
    assert.ok(!matches(level3?.read ?? "", "#") && !matches(longest?.read ?? "", "*.1.#"));
    assert.ok(matches(delivery?.read ?? "", "#.orders") && !matches(delivery?.read ?? "", "#.billing"));
  });

  it("lets a sender of Celery declare its destination and publish to the longest level, and nothing else of the network", () => {
    const celery = delayNetwork({ preset: "celery" });
    const access = planAccess({ client: "celery", network: celery, destinations: ["orders"] });
    assert.deepEqual(
      [access.configure, access.write, access.read],
      ["^(?:orders)$", "^(?:celery_delayed_27|orders)$", "^(?:orders)$"],
    );
    assert.deepEqual(
      access.topics.map(({ exchange, read }) => [exchange, read]),
      [["celery_delayed_27", "^$"]],
    );
  });

  it("refuses what a client needs and was not given", () => {
    const celery = delayNetwork({ preset: "celery" });
    assert.throws(() => planAccess({ client: "celery", destinations: [] }), /network: /);
    assert.throws(() => planAccess({ client: "celery", network: celery }), /destinations: .*must be named/);
    assert.throws(() => planAccess({ client: "celery", network, destinations: [] }), /client: "celery".*nservicebus/);
    assert.throws(
      () => planAccess({ client: "celery", network: celery, destinations: [], messageTypes: [] }),
      /messageTypes: /,
    );
    assert.throws(() => planAccess({ client: "nservicebus", destinations: [] }), /network: /);
    assert.throws(() => planAccess({ client: "nservicebus", network }), /destinations: .*must be named/);
    const custom = delayNetwork({ preset: "custom", prefix: "a" });
    assert.throws(
      () => planAccess({ client: "nservicebus", network: custom, destinations: [] }),
      /client: "nservicebus"/,
    );
    assert.throws(() => planAccess({ messageTypes: ["a"] }), /messageTypes: .*it goes with client/);
    assert.throws(() => planAccess({ routingTopology: "direct" }), /routingTopology: .*client: nservicebus/);
    assert.throws(() => planAccess({ client: "sidekiq" as never }), /client: "sidekiq"/);
  });
});
