import { strict as assert } from "node:assert";
import { delayNetwork, holdQueues, planBinding, planRetry, retryIntervals, workRetry } from "@rabbitmq-delay/topology";
import { AuditFinding, FoundOnBroker, auditBroker, auditNetwork, auditQueue } from "@rabbitmq-delay/topology/stack";

const network = delayNetwork({ preset: "custom", prefix: "orders", radix: 4, levels: 7 });
const rulesOf = (findings: AuditFinding[]): string[] => findings.map(({ rule, severity }) => `${rule} ${severity}`);

describe("an audit", () => {
  it("finds nothing where all is as it should be", () => {
    assert.deepEqual(auditNetwork(network, [{ name: "Sales" }, { name: "Europe.Sales" }]), []);
    assert.deepEqual(planRetry(workRetry({ queue: "work", delays: [5] })).queues.flatMap(auditQueue), []);
  });

  it("finds what could lose a message", () => {
    const classic = delayNetwork({ preset: "celery", queueType: "classic", parking: false, matching: "suffix" });
    assert.deepEqual(rulesOf(auditNetwork(classic, [])), [
      "at-most-once warning",
      "no-parking warning",
      "suffix-matching warning",
    ]);
    const intervals = planRetry(retryIntervals({ intervals: [5] })).queues;
    assert.deepEqual(rulesOf(intervals.flatMap(auditQueue)), ["at-most-once warning"]);
    const destinations = [{ exchange: "", routingKey: "a" }];
    const leased = planRetry(holdQueues({ delays: [5], destinations, leaseMs: 60_000 })).queues;
    assert.deepEqual(rulesOf(leased.flatMap(auditQueue)), ["at-most-once warning", "leased warning"]);
  });

  // "Is lost" was said of what a quorum level holds for ever, and stops at.
  it("says what becomes of a message that nobody takes without parking", () => {
    const without = (queueType: "quorum" | "classic"): string | undefined =>
      auditNetwork(delayNetwork({ preset: "custom", prefix: "a", parking: false, queueType }), []).find(
        ({ rule }) => rule === "no-parking",
      )?.message;
    assert.match(without("quorum") ?? "", /stays in its level, and 32 of them stop that level for all/);
    assert.match(without("classic") ?? "", /is dropped/);
  });

  it("finds endpoints that would get each other's messages, and names without room", () => {
    const suffix = delayNetwork({ preset: "nservicebus", matching: "suffix" });
    const [collision] = auditNetwork(suffix, [{ name: "Sales" }, { name: "Europe.Sales" }]).filter(
      ({ rule }) => rule === "collision",
    );
    assert.equal(collision?.severity, "error");
    assert.match(collision?.message ?? "", /Europe\.Sales and Sales's Sales would both get/);
    assert.deepEqual(rulesOf(auditNetwork(network, [{ name: "x".repeat(230) }])), ["near-limit warning"]);
  });

  it("on vendors' presets, finds what the vendors' clients mix up, by the rule that a stack is refused by", () => {
    const vendors = delayNetwork({ preset: "nservicebus" });
    const endpoints = [{ name: "Sales" }, { name: "Europe.Sales" }];
    assert.deepEqual(rulesOf(auditNetwork(vendors, endpoints)), ["collision error"]);
    assert.deepEqual(auditNetwork(vendors, endpoints, ["Sales with Europe.Sales"]), []);
  });

  it("compares with what a broker has", () => {
    const sales = planBinding(network, { name: "Sales" }).bindings;
    const found: FoundOnBroker = {
      queues: [{ name: "Sales", durable: true }],
      exchanges: [],
      bindings: sales,
    };
    assert.deepEqual(auditBroker(network, [{ name: "Sales" }], found), []);
    assert.deepEqual(rulesOf(auditBroker(network, [{ name: "Billing" }], found)), ["missing-endpoint warning"]);
    assert.deepEqual(rulesOf(auditBroker(network, [{ name: "Sales" }], { ...found, bindings: [] })), [
      "unbound warning",
    ]);
    const transient = { ...found, queues: [{ name: "Sales", durable: false }] };
    assert.deepEqual(rulesOf(auditBroker(network, [{ name: "Sales" }], transient)), ["not-durable error"]);
    // Of two networks, nothing said which one had lost it.
    const lost = { ...found, bindings: [] };
    const [alone, ofSeveral] = [false, true].map((several) => auditBroker(network, [{ name: "Sales" }], lost, several));
    assert.match(alone?.[0]?.message ?? "", /^is not bound with /);
    assert.ok(ofSeveral?.[0]?.message.startsWith(`is not bound to network ${network.prefix} with `));
    const vendor = { source: network.deliveryExchange, destination: "Old", destinationType: "queue" as const };
    const mixed = { ...found, bindings: [...sales, { ...vendor, routingKey: "#.Sales" }] };
    const [collision] = auditBroker(network, [{ name: "Sales" }], mixed);
    assert.match(
      collision?.message ?? "",
      /queue Old is bound on the broker with #\.Sales, and gets its messages for Sales/,
    );
  });
});
