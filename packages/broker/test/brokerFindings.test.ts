import { strict as assert } from "node:assert";
import { BindingPlan, delayNetwork, planHoldQueue, holdQueues, planBinding } from "@rabbitmq-delay/topology";
import { FoundPolicy } from "@rabbitmq-delay/topology/stack";
import { QueueOnBroker, VhostOnBroker } from "../dist/audit/brokerFindings";
import { auditCollisions } from "../dist/audit/bindingCollisions";
import { auditDelayQueues } from "../dist/audit/delayQueueFindings";

const network = delayNetwork({ preset: "custom", prefix: "shop", radix: 2, levels: 3, unitMs: 10 });

function binding(source: string, destination: string, routingKey: string): BindingPlan {
  return { source, destination, destinationType: "queue", routingKey };
}

describe("delay queues of others", () => {
  const vhost = { "x-dead-letter-exchange": "back", "x-dead-letter-routing-key": "orders" };
  /** What is found of one queue, beside queue `orders`, bound to exchange `back`. */
  function found(
    values: Record<string, unknown>,
    more: Partial<QueueOnBroker> = {},
    policies: FoundPolicy[] = [],
    type = "direct",
  ): string[] {
    const queue = { name: "wait", arguments: values, type: "classic", consumers: 0, ...more };
    const seen: VhostOnBroker = {
      queues: [queue, { name: "orders", arguments: {}, consumers: 1 }],
      exchanges: [
        { name: "back", type, arguments: {} },
        { name: "amq.direct", type: "direct", arguments: {} },
        { name: "unbound", type, arguments: {} },
        { name: network.deliveryExchange, type: "topic", arguments: {} },
      ],
      bindings: [
        binding("back", "orders", type === "topic" ? "orders.#" : "orders"),
        binding("amq.direct", "orders", "o"),
      ],
      policies,
    };
    return auditDelayQueues(seen).map(({ rule, severity, message }) => `${severity} ${rule} ${message}`);
  }

  // All messages in such queues were lost, and "nothing found" was said of them.
  it("that lose every message are told of", () => {
    const wait = { "x-message-ttl": 6000 };
    assert.match(
      found({ ...wait, ...vhost, "x-expires": 1500 })[0] ?? "",
      /^error expiring-delay-queue expires 1500ms/,
    );
    assert.match(
      found({ ...wait, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "ordrs" })[0] ?? "",
      /^error missing-target .* queue ordrs, which is not there: each is lost/,
    );
    const unbound = { ...wait, ...vhost, "x-dead-letter-routing-key": "ordrs" };
    assert.match(found(unbound)[0] ?? "", /^error missing-target .*exchange back with the key "ordrs".* leads nowhere/);
    assert.match(found(unbound, {}, [], "topic")[0] ?? "", /^error missing-target /);
    for (const type of ["direct", "topic", "fanout", "headers"]) {
      const nowhere = found({ ...wait, "x-dead-letter-exchange": "unbound" }, {}, [], type);
      assert.match(
        nowhere[0] ?? "",
        /^error missing-target .*exchange unbound, to which nothing is bound: each is lost/,
      );
    }
    const toItself = { ...wait, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "wait" };
    assert.match(found(toItself)[0] ?? "", /^error missing-target passes its messages on to itself: the broker drops/);
    const kept = { type: "quorum" };
    assert.match(
      found({ ...unbound, "x-dead-letter-strategy": "at-least-once" }, kept)[0] ?? "",
      /they stay, and stop/,
    );
    assert.match(
      found(wait)[0] ?? "",
      /^warning no-target drops its messages after 6s: it has no dead-letter exchange/,
    );
    const quorum = found({ ...vhost, "x-expires": 1500 }, { type: "quorum" });
    assert.match(quorum[0] ?? "", /^warning expiring-delay-queue .* a message whose own expiration is longer is lost/);
  });

  // Symfony declares such queues with `daily_delay_queues`: the advice to make them classic was wrong.
  it("that are quorum queues with an expiry lose messages, unless each is for one day and outlasts it", () => {
    const dayMs = 24 * 60 * 60 * 1000;
    const expiring = (name: string, expiresMs: number): string[] =>
      found({ "x-message-ttl": 5000, "x-expires": expiresMs, ...vhost }, { name, type: "quorum" });
    assert.deepEqual(expiring("delay_messages__5000_delay_2026-11-28", dayMs + 15_000), []);
    assert.match(
      expiring("delay_messages__5000_delay", 15_000)[0] ?? "",
      /make it classic, or take its expiry away; in Symfony, daily_delay_queues: true/,
    );
    assert.equal(expiring("delay_messages__5000_delay_2026-11-28", dayMs).length, 1);
  });

  it("that may be right are not", () => {
    const wait = { "x-message-ttl": 6000, ...vhost };
    assert.deepEqual(found(wait), []);
    assert.deepEqual(found({ ...wait, "x-expires": 12_000 }), []);
    assert.deepEqual(found({ ...wait, "x-expires": 1500 }, { consumers: 1 }), []);
    assert.deepEqual(found({ ...wait, "x-dead-letter-exchange": "" }), []);
    assert.deepEqual(found({ ...wait, "x-dead-letter-routing-key": "orders.eu" }, {}, [], "topic"), []);
    assert.deepEqual(found({ ...wait, "x-dead-letter-routing-key": "x" }, {}, [], "fanout"), []);
    assert.deepEqual(found({ ...wait, "x-dead-letter-routing-key": "x" }, {}, [], "x-consistent-hash"), []);
    // Each message's own key counts.
    assert.deepEqual(found({ "x-message-ttl": 6000, "x-dead-letter-exchange": "amq.direct" }), []);
    assert.deepEqual(found({ "x-message-ttl": 6000, "x-dead-letter-exchange": "" }), []);
    // Of a plugin's exchange nobody knows; of a network without endpoints, another look tells.
    assert.deepEqual(found({ "x-message-ttl": 6000, "x-dead-letter-exchange": "unbound" }, {}, [], "x-random"), []);
    assert.deepEqual(found({ "x-message-ttl": 6000, "x-dead-letter-exchange": network.deliveryExchange }), []);
    const alternate: FoundPolicy = {
      name: "parking",
      pattern: "^back$",
      applyTo: "exchanges",
      priority: 0,
      definition: { "alternate-exchange": "amq.direct" },
      isOperator: false,
    };
    assert.deepEqual(found({ ...wait, "x-dead-letter-routing-key": "x" }, {}, [alternate]), []);
    assert.deepEqual(found({ "x-message-ttl": 6000 }, { consumers: 1 }), []);
    const destination = { exchange: "", routingKey: "orders" };
    const holds = holdQueues({ queueType: "classic", leaseMs: 60_000, delays: ["6s"], destinations: [destination] });
    const hold = planHoldQueue(holds, 6000, destination);
    assert.ok(hold.arguments["x-expires"] !== undefined);
    assert.deepEqual(found(hold.arguments), []);
  });
});

describe("bindings of a network that nobody declares here", () => {
  const { deliveryExchange } = network;
  function collisions(bound: [queue: string, key: string][], allow: string[] = [], declared: string[] = []): string[] {
    const bindings = bound.map(([queue, key]) => binding(deliveryExchange, queue, key));
    const found = { queues: [], exchanges: [{ name: deliveryExchange }], bindings };
    return auditCollisions(found, declared, allow).map(({ subject, message }) => `${subject} ${message}`);
  }

  // Four queues got other endpoints' messages as well, and "nothing found" was said of all of them.
  it("are compared with each other, whatever is in them", () => {
    const sales: [string, string] = ["Sales", "*.*.*.Sales"];
    const europe: [string, string] = ["Europe.Sales", "*.*.*.Europe.Sales"];
    const told = (...bound: [string, string][]): string => collisions([sales, europe, ...bound]).join("\n");
    assert.equal(told(), "");
    assert.match(told(["audit", "*.*.*.Sales"]), /^queue audit is bound .* for Sales too, as queue Sales may[^\n]*$/);
    assert.match(told(["star", "*.*.*.Europe.*"]), /^queue star [^\n]* for Europe\.Sales too[^\n]*$/);
    assert.match(
      told(["star", "*.*.*.*.Sales"]),
      /^queue star [^\n]* for Europe\.Sales too, as queue Europe.Sales[^\n]*$/,
    );
    assert.match(told(["old", "#.Sales"]), /^queue old [^\n]* for Sales, Europe\.Sales too[^\n]*$/);
    assert.match(told(["all", "#"]), /^queue all [^\n]* for Sales, Europe\.Sales too[^\n]*$/);
    assert.match(told(["a", "*.*.*.X.*"], ["b", "*.*.*.*.Y"]), /^queue (a|b) [^\n]*too/);
    // Digits are no part of a name.
    assert.equal(told(["other", "#.Asia.Sales"]), "");
    assert.equal(told(["Sales", "#.Sales"], ["x", "*.*.*.Sales.x"]).split("\n").length, 1);
    assert.deepEqual(collisions([sales, ["audit", "*.*.*.Sales"]], [], ["Sales"]), []);
    assert.deepEqual(collisions([sales, ["audit", "*.*.*.Sales"]], ["Sales with audit"]), []);
    assert.deepEqual(collisions([europe, ["Sales", "#.Sales"]], ["Sales with Europe.Sales"]), []);
  });

  it("are compared in seconds, thousands of them", () => {
    const nsb = delayNetwork({ preset: "nservicebus" });
    const bound = Array.from({ length: 3000 }, (_, index) => {
      const { bindings } = planBinding(nsb, { name: `Endpoint.${index}` });
      const patterns =
        index % 2 === 0 ? bindings : planBinding(nsb, { name: `x${index}`, patterns: [`Of${index}.*`] }).bindings;
      return patterns.map(({ routingKey }) => binding(nsb.deliveryExchange, `q${index}`, routingKey));
    }).flat();
    const start = process.cpuUsage();
    const found = { queues: [], exchanges: [{ name: nsb.deliveryExchange }], bindings: bound };
    assert.deepEqual(auditCollisions(found), []);
    const busyMs = process.cpuUsage(start).user / 1000;
    assert.ok(busyMs < 10_000, `${busyMs} ms of processor time`);
    assert.ok(bound.length >= 3000);
  });
});
