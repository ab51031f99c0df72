import { strict as assert } from "node:assert";
import { delayNetwork, planBinding } from "@rabbitmq-delay/topology";
import { auditBroker } from "@rabbitmq-delay/topology/stack";

describe("a look at a network's bindings", () => {
  // Each check of such a stack ended with errors, whatever it allowed.
  it("finds an endpoint that gets another one's messages, unless the pair is allowed", () => {
    const network = delayNetwork({ preset: "nservicebus", matching: "suffix" });
    const endpoints = ["Sales", "Europe.Sales"].map((name) => ({ name }));
    const found = {
      bindings: [...endpoints, { name: "EU.Billing" }].flatMap((endpoint) => planBinding(network, endpoint).bindings),
      queues: endpoints.map(({ name }) => ({ name, durable: true })),
      exchanges: [],
    };
    const told = (allow: string[]): string[] =>
      auditBroker(network, endpoints, found, false, allow).map(({ subject, message }) => `${subject}: ${message}`);
    // Sales gets nothing by the binding of Europe.Sales, and nobody shall unbind that.
    assert.equal(told([]).length, 1);
    assert.match(told([]).join(), /^endpoint Europe\.Sales: queue Sales is bound on the broker with #\.Sales, /);
    assert.deepEqual(told(["Sales with Europe.Sales"]), []);
    assert.deepEqual(told(["Sales with EU.Billing"]), told([]));
  });
});
