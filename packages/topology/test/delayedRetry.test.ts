import { strict as assert } from "node:assert";
import {
  DelayTopologyError,
  DelayedRetryOptions,
  declaredDelaysMs,
  delayedRetry,
  delayedRetryVersion,
  parseDelayedRetry,
  parseRetryDescriptor,
  planDelayedRetry,
  planRetry,
} from "@rabbitmq-delay/topology";

describe("delayedRetry", () => {
  it("plans a quorum queue with the broker's own arguments, and a dead queue", () => {
    const { queues, policy } = planDelayedRetry(
      delayedRetry({ queue: "work", minMs: 100, maxMs: 250, deliveryLimit: 4 }),
    );
    assert.equal(policy, undefined);
    assert.deepEqual(queues, [
      { name: "work.dead", durable: true, arguments: { "x-queue-type": "quorum" } },
      {
        name: "work",
        durable: true,
        arguments: {
          "x-queue-type": "quorum",
          "x-delayed-retry-type": "failed",
          "x-delayed-retry-min": 100,
          "x-delayed-retry-max": 250,
          "x-delivery-limit": 4,
          "x-dead-letter-strategy": "at-least-once",
          "x-overflow": "reject-publish",
          "x-dead-letter-exchange": "",
          "x-dead-letter-routing-key": "work.dead",
        },
      },
    ]);
  });

  it("says the same in a policy for that queue alone, without the x-", () => {
    const descriptor = delayedRetry({ queue: "a.b", minMs: 1, settings: "policy", deadLetterExchange: "dead" });
    const { queues, policy } = planDelayedRetry(descriptor);
    assert.deepEqual(queues, [{ name: "a.b", durable: true, arguments: { "x-queue-type": "quorum" } }]);
    assert.equal(policy?.pattern, "^a\\.b$");
    assert.equal(policy?.applyTo, "quorum_queues");
    assert.equal(policy?.definition["delayed-retry-max"], 20);
    assert.equal(policy?.definition["dead-letter-exchange"], "dead");
    assert.equal(policy?.definition["dead-letter-routing-key"], undefined);
    assert.equal(delayedRetryVersion(descriptor), "4.3.1");
    assert.equal(delayedRetryVersion({ settings: "arguments" }), "4.3.0");
  });

  it("waits longer each time, up to the longest, as 4.3.6 was seen to", () => {
    const descriptor = delayedRetry({ queue: "work", minMs: 100, maxMs: 250, deliveryLimit: 4 });
    assert.deepEqual(declaredDelaysMs(descriptor), [100, 200, 250, 250]);
  });

  it("reads back what it exports, as does whoever doesn't know the kind", () => {
    const descriptor = delayedRetry({ queue: "work", minMs: 5 });
    assert.deepEqual(parseDelayedRetry(JSON.parse(JSON.stringify(descriptor))), descriptor);
    assert.deepEqual(planRetry(parseRetryDescriptor(descriptor)), planDelayedRetry(descriptor));
    assert.throws(
      () => parseRetryDescriptor({ kind: "delay-network" }),
      /descriptor\.kind: "delay-network" .*work-retry/,
    );
    assert.throws(() => parseRetryDescriptor(null), /descriptor\.kind: undefined/);
    for (const deadQueue of [5, "", "other"]) {
      const message = /delayedRetry\.deadQueue: .* is not allowed/;
      assert.throws(() => parseDelayedRetry({ ...descriptor, deadQueue }), message, String(deadQueue));
    }
  });

  const refused: [string, object, RegExp][] = [
    ["no queue", { queue: undefined }, /queue: undefined/],
    ["no delay", { minMs: undefined }, /minMs: undefined/],
    ["a delay of nothing", { minMs: 0 }, /minMs: 0 is not allowed/],
    ["a longest delay below the shortest", { maxMs: 4 }, /maxMs: 4 is not allowed; .*minMs, 5/],
    ["no deliveries", { deliveryLimit: 0 }, /deliveryLimit: 0/],
    ["another type", { type: "disabled" }, /type: "disabled".*failed, returned, all/],
    ["other settings", { settings: "both" }, /settings: "both"/],
    ["a key without an exchange", { deadLetterRoutingKey: "a" }, /deadLetterRoutingKey: "a" .*deadLetterExchange/],
    ["a long name", { queue: "x".repeat(251) }, /queue: .*256 bytes/],
    ["what it doesn't know", { maxRetries: 1 }, /maxRetries: unknown property; known/],
  ];
  for (const [what, options, message] of refused) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => delayedRetry({ queue: "work", minMs: 5, ...options } as DelayedRetryOptions),
        (error: Error) => {
          assert.ok(error instanceof DelayTopologyError);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
