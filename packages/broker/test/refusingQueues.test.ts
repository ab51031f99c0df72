import { strict as assert } from "node:assert";
import type { BindingPlan } from "@rabbitmq-delay/topology";
import { refusingQueues } from "../dist/refusingQueues";

function bind(
  source: string,
  destination: string,
  destinationType: "queue" | "exchange" = "queue",
): Pick<BindingPlan, "source" | "destination" | "destinationType"> {
  return { source, destination, destinationType };
}

const full = { "x-overflow": "reject-publish", "x-max-length": 40 };
const namesOf = (...args: Parameters<typeof refusingQueues>): string[] => [...refusingQueues(...args).keys()];

// Forty messages for one full queue stopped a delay for everybody, and nothing had warned.
describe("queues that hold up the messages of others when they are full", () => {
  const deliveries = new Set(["out"]);

  it("are those that refuse, by arguments or by the policies that apply", () => {
    const bindings = ["a", "b", "c", "d", "e", "f"].map((name) => bind("out", name));
    const queues = [
      { name: "a", arguments: full },
      {
        name: "b",
        arguments: {},
        effective_policy_definition: { overflow: "reject-publish-dlx", "max-length-bytes": 9 },
      },
      { name: "c", arguments: { "x-overflow": "reject-publish" } },
      { name: "f", arguments: { ...full, "x-queue-type": "quorum", "x-overflow": "reject-publish-dlx" } },
      { name: "d", arguments: { "x-max-length": 5 }, effective_policy_definition: {} },
      {
        name: "e",
        arguments: { "x-overflow": "drop-head" },
        effective_policy_definition: { overflow: "reject-publish", "max-length": 5 },
      },
    ];
    assert.deepEqual(namesOf(deliveries, bindings, queues), ["a", "b"]);
    // The policy's overflow counts for a quorum queue.
    const quorum = queues.map((queue) => ({ ...queue, arguments: { ...queue.arguments, "x-queue-type": "quorum" } }));
    assert.deepEqual(namesOf(deliveries, bindings, quorum), ["a", "e"]);
    assert.match(
      refusingQueues(deliveries, bindings, queues).get("a") ?? "",
      /^queue a refuses messages once it holds 40 messages/,
    );
    assert.match(refusingQueues(deliveries, bindings, queues).get("b") ?? "", /once it holds 9 bytes/);
  });

  it("are bound where messages come that are due, or behind an endpoint's exchange", () => {
    const queues = ["near", "behind", "elsewhere"].map((name) => ({ name, arguments: full }));
    const bindings = [
      bind("out", "near"),
      bind("out", "Sales", "exchange"),
      bind("Sales", "behind"),
      bind("other", "elsewhere"),
    ];
    assert.deepEqual(namesOf(deliveries, bindings, queues), ["near", "behind"]);
  });
});
