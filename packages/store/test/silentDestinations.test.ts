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

  it("that were silent together are soon tried, each alone, and no more than twenty at once", () => {
    let nowMs = 0;
    const silent = new SilentDestinations(1000, () => nowMs);
    const all = Array.from({ length: 25 }, (_, index) => message(`m${index}`, `queue${index}`));
    silent.note(all);
    assert.deepEqual([...new Set(silent.findHeldBack(all).values())], [500]);
    nowMs = 500;
    assert.equal(silent.findHeldBack(all).size, 5);
    // The twenty have as much time as a try takes, and then longer pauses; the others are tried when one of them has ended.
    nowMs = 1100;
    assert.equal(silent.findHeldBack(all).size, 25);
    silent.delete(all[1] as NewDelayedMessage);
    assert.equal(silent.findHeldBack(all).size, 23);
    silent.note([all[0] as NewDelayedMessage]);
    assert.equal(silent.findHeldBack(all).get(all[0] as NewDelayedMessage), 1000);
  });

  it("get no other message before the answer to the last one, or the end of its channel", async () => {
    let nowMs = 0;
    const silent = new SilentDestinations(1000, () => nowMs);
    const answers: { resolve: () => void; reject: (error: Error) => void }[] = [];
    const answer = (): Promise<void> => new Promise((resolve, reject) => answers.push({ resolve, reject }));
    for (const end of ["reject", "resolve"] as const) {
      silent.note([first]);
      silent.awaitAnswer(first, answer());
      nowMs += 59_000;
      assert.deepEqual([silent.isAnswerOpen(second), silent.findHeldBack([second]).size], [true, 1]);
      answers.at(-1)?.[end](new Error("closed"));
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual([silent.isAnswerOpen(second), silent.has(second)], [false, end === "reject"]);
      assert.equal(silent.findHeldBack([second]).size, 0);
    }
  });

  // Its routing key may be bound to another queue by then, of which the hanging one says nothing.
  it("get one more message after a minute without an answer, after two, and so on up to an hour", () => {
    let nowMs = 0;
    const silent = new SilentDestinations(1000, () => nowMs);
    const never = new Promise<void>(() => undefined);
    const afterMs: number[] = [];
    for (let tries = 0; tries < 9; tries++) {
      silent.note([first]);
      silent.awaitAnswer(first, never);
      const sinceMs = nowMs;
      while (silent.findHeldBack([second]).size > 0) nowMs += 1000;
      assert.ok(!silent.isAnswerOpen(second));
      afterMs.push(nowMs - sinceMs);
    }
    const minutes = [1, 2, 4, 8, 16, 32, 60, 60, 60];
    assert.deepEqual(
      afterMs,
      minutes.map((count) => count * 60_000),
    );
  });
});
