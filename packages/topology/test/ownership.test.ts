import { strict as assert } from "node:assert";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { ownedNames, planEndpointOwnership, planOwnership } from "@rabbitmq-delay/topology/stack";

describe("who owns a name", () => {
  it("stands in the one argument that the broker compares", () => {
    assert.deepEqual(planOwnership("endpoint", "Billing", "billing/prod"), {
      name: "rabbitmq-delay.owner-of-endpoint.Billing",
      type: "fanout",
      durable: true,
      arguments: { "alternate-exchange": "billing/prod" },
    });
  });

  it("an owner without a name, and names too long, are refused", () => {
    assert.throws(
      () => planOwnership("user", "billing", ""),
      /owner: "" is not allowed; it must say whose the names are/,
    );
    assert.throws(() => planOwnership("user", "billing", "a".repeat(256)), DelayTopologyError);
    assert.throws(() => planOwnership("user", "b".repeat(250), "billing/prod"), /user: .* at most 226 bytes/);
  });

  // A name of 230 bytes was refused as one of 263 that nobody had given: rabbitmq-delay.owner-of-endpoint.NAME.
  it("a name is refused by its own length, as far as its claim leaves room", () => {
    const claimed = planOwnership("endpoint", "e".repeat(222), "billing/prod");
    assert.equal(claimed.name.length, 255);
    assert.throws(
      () => planOwnership("endpoint", "e".repeat(223), "billing/prod"),
      /^DelayTopologyError: endpoint\.name: "e{20,}.* is not allowed; it has 223 bytes, at most 222 bytes are allowed/,
    );
  });

  it("a pattern that is too long is named as a pattern", () => {
    const patterns = ["orders.*", "p".repeat(223)];
    assert.throws(
      () => planEndpointOwnership({ name: "Billing", patterns }, "billing/prod"),
      /^DelayTopologyError: endpoint\.patterns\[1\]: "p{20,}.* is not allowed; it has 223 bytes/,
    );
  });

  it("an endpoint's names are its own and what it takes, but for wildcards", () => {
    assert.deepEqual(ownedNames({ name: "Billing" }), ["Billing"]);
    assert.deepEqual(ownedNames({ name: "work", patterns: ["orders.paid", "orders.*", "work"] }), [
      "work",
      "orders.paid",
    ]);
  });
});
