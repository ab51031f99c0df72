import { strict as assert } from "node:assert";
import type { NewDelayedMessage } from "@rabbitmq-delay/store";
import { SilentDestinations } from "../dist/dispatch/silentDestinations";

const message = (messageId: string, routingKey: string): NewDelayedMessage => ({
  ...{ messageId, dueAt: new Date(0), exchange: "", routingKey, properties: {}, body: Buffer.from("x") },
});

describe("destinations that do not answer", () => {
  const [first, second, other] = [message("a", "hung"), message("b", "hung"), message("c", "work")];

  it("get one message at a time, with longer and longer pauses, up to a minute", () => {
    let nowMs = 0;
    const silent = new SilentDestinations(1000, () => nowMs);
    assert.equal(silent.findHeldBack([first, second, other]).size, 0);
    silent.note([first, second]);
    const pauses: number[] = [];
    for (let tries = 0; tries < 8; tries++) {
      const held = silent.findHeldBack([first, second, other]);
      assert.deepEqual([...held.keys()], [first, second]);
      pauses.push(held.get(second) as number);
      nowMs += held.get(second) as number;
      // The one that is tried, and no other until it has had its time.
      assert.deepEqual([...silent.findHeldBack([first, second])], [[second, pauses[tries] as number]]);
      silent.note([first]);
    }
    assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });

  it("are like all others when they have answered", () => {
    const silent = new SilentDestinations(1000, () => 0);
    silent.note([first]);
    assert.ok(silent.has(second));
    silent.delete(second);
    assert.deepEqual([silent.has(first), silent.findHeldBack([first, second]).size], [false, 0]);
  });

  it("are tried no sooner than a try takes, where that is longer than a minute", () => {
    const silent = new SilentDestinations(90_000, () => 0);
    silent.note([first]);
    silent.note([first]);
    assert.equal(silent.findHeldBack([first]).get(first), 90_000);
  });
});
