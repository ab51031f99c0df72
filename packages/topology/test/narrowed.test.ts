import { strict as assert } from "node:assert";
import { delayedStore } from "@rabbitmq-delay/topology";
import { narrowedWays } from "@rabbitmq-delay/topology/stack";

describe("narrowedWays", () => {
  const forwards = [{ exchange: "shop", delivery: "shop.out" }];
  const before = delayedStore({ forwards, exchanges: ["others"], toQueues: true });

  it("names what a process may no longer do with what waits, and nothing where it may do more, or the same by another way", () => {
    const after = (more: object): string[] => narrowedWays(before, { ...before, ...more });
    assert.deepEqual(after({}), []);
    assert.deepEqual(after({ exchanges: ["others", "more"] }), []);
    assert.deepEqual(after({ toQueues: false }), ["publish to queues"]);
    assert.deepEqual(after({ exchanges: [] }), ["publish to exchange others"]);
    assert.deepEqual(after({ forwards: [{ ...before.forwards[0], delivery: "new" }] }), [
      "publish to exchange shop.out",
    ]);
    assert.deepEqual(after({ forwards: [], exchanges: ["others", "shop.out"] }), [
      "tell where messages of exchange shop go",
    ]);
  });

  it("says nothing of a descriptor that can't be read", () => {
    for (const value of [undefined, null, 5, {}, { forwards: [null], exchanges: [] }, { forwards: [], exchanges: "x" }])
      assert.deepEqual(narrowedWays(value, before), []);
  });
});
