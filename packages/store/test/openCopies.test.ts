import { strict as assert } from "node:assert";
import type { NewDelayedMessage } from "@rabbitmq-delay/store";
import { OpenCopies } from "../dist/gateway/openCopies";

const read = (roundId?: string): { message: NewDelayedMessage; roundId?: string } => {
  const message = { messageId: "m", dueAt: new Date(0), exchange: "", routingKey: "work", properties: {} };
  return { message: { ...message, body: Buffer.from("x") }, ...(roundId === undefined ? {} : { roundId }) };
};

const to = { exchange: "wait", routingKey: "0.1.work" };

describe("copies that a gateway has sent into its network", () => {
  it("are known when the broker delivers the same round once more, and are not those of another round", async () => {
    const copies = new OpenCopies();
    let confirm: () => void = () => undefined;
    copies.await(read("r1"), to, new Promise<void>((resolve) => (confirm = resolve)));
    const again = copies.answerTo(read("r1"));
    assert.ok(again !== undefined && !copies.has(read("r1")));
    assert.deepEqual([copies.answerTo(read("r2")), copies.answerTo(read())], [undefined, undefined]);
    confirm();
    await again;
    assert.deepEqual([copies.has(read("r1")), copies.has(read("r2")), copies.has(read())], [true, false, false]);
    assert.equal(copies.answerTo(read("r1")), undefined);
  });

  it("may be sent again when their channel has closed", async () => {
    const copies = new OpenCopies();
    for (const one of [read(), read("r1")]) {
      copies.await(one, to, Promise.reject(new Error("closed")));
      await copies.answerTo(one);
      assert.deepEqual([copies.has(one), copies.answerTo(one)], [false, undefined]);
    }
  });

  it("are known by the message itself in its first round, and ten minutes long by the round in later ones", () => {
    let nowMs = 0;
    const copies = new OpenCopies(() => nowMs);
    const first = read();
    copies.enter(first);
    copies.enter(read("old"));
    nowMs = 10 * 60_000 + 1;
    copies.enter(read("new"));
    assert.deepEqual([copies.has(first), copies.has(read()), copies.has(read("old"))], [true, false, false]);
    assert.ok(copies.has(read("new")));
  });

  it("are told while they wait for long, and their originals may be sent again when they are given up", async () => {
    let nowMs = 0;
    const copies = new OpenCopies(() => nowMs);
    let confirm: () => void = () => undefined;
    const never = new Promise<void>(() => undefined);
    copies.await(read("r1"), to, new Promise<void>((resolve) => (confirm = resolve)));
    nowMs = 5000;
    copies.await(read("r2"), to, never);
    const [old, ...others] = copies.openFor(5000);
    assert.deepEqual([old?.exchange, old?.routingKey, others.length], ["wait", "0.1.work", 0]);
    const waiting = copies.answerTo(read("r1"));
    old?.giveUp();
    await waiting;
    assert.deepEqual(
      [copies.has(read("r1")), copies.answerTo(read("r1")), copies.openFor(5000)],
      [false, undefined, []],
    );
    // It was only slow.
    confirm();
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(copies.has(read("r1")));
    assert.equal(copies.openFor(0).length, 1);
  });
});
