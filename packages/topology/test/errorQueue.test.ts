import { strict as assert } from "node:assert";
import { DelayTopologyError, planErrorQueues } from "@rabbitmq-delay/topology";

describe("the plan of error queues", () => {
  it("has what NServiceBus's installers declare: a queue, a fanout exchange of its name, and a binding without a key", () => {
    assert.deepEqual(planErrorQueues({ names: ["error", "audit"] }), {
      exchanges: [
        { name: "error", type: "fanout", durable: true },
        { name: "audit", type: "fanout", durable: true },
      ],
      queues: [
        { name: "error", durable: true, arguments: { "x-queue-type": "quorum" } },
        { name: "audit", durable: true, arguments: { "x-queue-type": "quorum" } },
      ],
      bindings: [
        { source: "error", destination: "error", destinationType: "queue", routingKey: "" },
        { source: "audit", destination: "audit", destinationType: "queue", routingKey: "" },
      ],
    });
    const [classic] = planErrorQueues({ names: ["error"], queueType: "classic" }).queues;
    assert.deepEqual(classic?.arguments, {});
  });

  for (const [given, message] of [
    [{}, /^names: undefined is not allowed; it must be a list of at least one name$/],
    [{ names: [] }, /^names: \[\] is not allowed; it must be a list of at least one name$/],
    [{ names: "error" }, /^names: this text is not allowed; it must be a list/],
    [{ names: ["error", "a/b"] }, /^names\[1\]: "a\/b" is not allowed; it must not contain @ or \/$/],
    [{ names: ["error", "error"] }, /^names\[1\]: "error" is not allowed; it is there twice; name it once$/],
    [
      { names: ["error"], queueType: "stream" },
      /^queueType: "stream" is not allowed; it must be one of quorum, classic$/,
    ],
  ] as const) {
    it(`refuses ${JSON.stringify(given)}`, () => {
      assert.throws(
        () => planErrorQueues(given as never),
        (error: Error) => {
          assert.ok(error instanceof DelayTopologyError, error.stack);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
