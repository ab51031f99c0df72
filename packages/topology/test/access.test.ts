import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import {
  delayNetwork,
  delayedRetry,
  encodeDelay,
  holdQueues,
  planEntities,
  retryIntervals,
  workRetry,
} from "@rabbitmq-delay/topology";
import { coveredNames, planAccess } from "@rabbitmq-delay/topology/stack";

const network = delayNetwork({ preset: "custom", prefix: "orders.eu", radix: 4, levels: 3 });

describe("planAccess", () => {
  it("lets a service write to entry exchanges and its retries, read its queues, and declare nothing", () => {
    const retries = [workRetry({ queue: "work", delays: [5] }), retryIntervals({ intervals: [7] })];
    const plan = planAccess({ consumes: ["Sales", "work"], network, retries, publishes: ["events"] });
    const allowed = (pattern: string, name: string): boolean => new RegExp(pattern).test(name);
    for (const name of [...network.entryExchanges, "work.retry-5", "work.dead", "mt-delay-7", "events"])
      assert.ok(allowed(plan.write, name), name);
    for (const name of ["", "amq.default", network.deliveryExchange, "work", "mt-delay-return", "xevents", "eventsx"])
      assert.ok(!allowed(plan.write, name), name);
    assert.ok(!allowed(plan.write, (network.entryExchanges[0] as string).replace("orders.eu", "ordersXeu")));
    assert.ok(allowed(plan.read, "Sales") && allowed(plan.read, "work"));
    for (const { name } of planEntities(network).queues) assert.ok(!allowed(plan.read, name), name);
    assert.equal(plan.configure, "^$");
    assert.deepEqual(plan.topics, []);
  });

  it("allows exactly the keys of the destinations, its own queues among them", () => {
    const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z.-]{0,12}$/).filter((text) => !text.startsWith("amq."));
    const names = fc.uniqueArray(name, { minLength: 3, maxLength: 6 });
    fc.assert(
      fc.property(names, fc.nat(63_000), ([own, other, foreign, ...more], delayMs) => {
        const plan = planAccess({ network, consumes: [own as string], destinations: [other as string, ...more] });
        const isAllowed = (destination: string): boolean => {
          const { exchange, routingKey } = encodeDelay(network, delayMs, destination);
          const topic = plan.topics.find((found) => found.exchange === exchange);
          return new RegExp(topic?.write ?? "").test(routingKey);
        };
        assert.ok([own, other, ...more].every((destination) => isAllowed(destination as string)));
        assert.ok(!isAllowed(foreign as string));
      }),
    );
  });

  it("covers names that can be read from the pattern, and from no pattern of another form", () => {
    const name = fc.stringMatching(/^[a-z(|)\\.$*+?^:-]{1,8}$/);
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 5 }), (publishes) => {
        assert.deepEqual(coveredNames(planAccess({ publishes }).write), publishes);
      }),
    );
    for (const other of [".*", "", "^a$", "^(?:a.*|b)$", "^(?:a|a)$", "^(?:a|)$", "(?:a|b)", "^(?:a\\b)$"])
      assert.equal(coveredNames(other), undefined, other);
  });

  it("lets NServiceBus's direct topology publish and subscribe to the broker's own exchange of its events", () => {
    const nservicebus = delayNetwork({ preset: "nservicebus" });
    const conventional = {
      client: "nservicebus" as const,
      network: nservicebus,
      consumes: ["Sales"],
      destinations: [],
      messageTypes: ["amq.topic"],
    };
    const plan = planAccess({ ...conventional, routingTopology: "direct" });
    assert.ok(new RegExp(plan.write).test("amq.topic") && new RegExp(plan.read).test("amq.topic"));
    assert.ok(!new RegExp(plan.write).test("amqXtopic") && !new RegExp(plan.configure).test("amq.topic"));
    assert.throws(() => planAccess(conventional), /messageTypes\[0\]/);
  });

  it("lets a client declare and bind what it declares for each message type, and read those of the service alone", () => {
    const namesOf = (pattern: string): string[] => pattern.slice("^(?:".length, -")$".length).split("|");
    const messageTypes = ["Shop:Happened"];
    const nservicebus = delayNetwork({ preset: "nservicebus" });
    const common = { client: "nservicebus" as const, network: nservicebus, consumes: ["Sales"], destinations: [] };
    const bases = ["System:Object", "NServiceBus:IEvent", "NServiceBus:IMessage"];
    const event = planAccess({ ...common, messageTypes });
    assert.deepEqual(namesOf(event.configure), ["Shop:Happened", ...bases]);
    assert.deepEqual(namesOf(event.write).slice(-4), ["Shop:Happened", ...bases]);
    assert.deepEqual(namesOf(event.read), ["Sales", "nsb\\.v2\\.delay-delivery", "Shop:Happened"]);
    assert.equal(planAccess(common).configure, "^$");

    const orders = planAccess({ client: "masstransit", messageTypes });
    const bound = ["Shop:Happened", "MassTransit:Fault--Shop:Happened--"];
    assert.deepEqual(namesOf(orders.configure), [...bound, "MassTransit:Fault"]);
    assert.deepEqual(namesOf(orders.write), [...bound, "MassTransit:Fault"]);
    assert.deepEqual(namesOf(orders.read), bound);
    assert.equal(planAccess({ client: "masstransit" }).configure, "^$");
  });

  it("is nothing for a service that does nothing, and refuses what reaches every queue", () => {
    assert.deepEqual(planAccess({}), { configure: "^$", write: "^$", read: "^$", topics: [], tags: [] });
    assert.deepEqual(planAccess({ retries: [delayedRetry({ queue: "a", minMs: 5 })] }).write, "^$");
    const holds = holdQueues({ delays: [5], destinations: [{ exchange: "", routingKey: "a" }] });
    assert.throws(() => planAccess({ retries: [holds] }), /retries: "hold-queues" is not allowed; .*every queue/);
    assert.throws(() => planAccess({ consumes: ["a/b"] }), /consumes\[0\]: "a\/b"/);
  });
});
