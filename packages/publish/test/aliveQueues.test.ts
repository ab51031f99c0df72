import { strict as assert } from "node:assert";
import { AliveQueues, aliveQueuesOf } from "../dist/hold/aliveQueues";

describe("the ledger of hold queues", () => {
  it("forgets a queue when its lease is over: it is new again, counts no more, and makes room", () => {
    let now = 0;
    const alive = new AliveQueues(() => now);
    assert.equal(alive.note("a", 100, 2), true);
    assert.equal(alive.note("b", 300, 2), true);
    assert.equal(alive.note("a", 100, 2), false);
    assert.throws(() => alive.note("c", 100, 2), /maxQueues: this connection has 2 hold queues, and 2 are allowed/);
    now = 50;
    assert.equal(alive.note("a", 100, 2), false, "renewed");
    now = 149;
    assert.equal(alive.count, 2);
    now = 150;
    assert.equal(alive.count, 1);
    assert.equal(alive.note("a", 100, 2), true);
    now = 1000;
    assert.equal(alive.count, 0);
    assert.equal(alive.note("c", 100, 1), true);
    alive.forget("c");
    assert.equal(alive.count, 0);
  });

  it("is one for all channels of a connection, and another for each further connection", () => {
    const connection = {};
    assert.equal(aliveQueuesOf({ connection }), aliveQueuesOf({ connection }));
    assert.notEqual(aliveQueuesOf({ connection }), aliveQueuesOf({ connection: {} }));
    const channel = {};
    assert.equal(aliveQueuesOf(channel), aliveQueuesOf(channel));
    assert.notEqual(aliveQueuesOf(channel), aliveQueuesOf({}));
  });
});
