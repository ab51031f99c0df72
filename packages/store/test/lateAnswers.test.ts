import { strict as assert } from "node:assert";
import type { DelayedMessage } from "@rabbitmq-delay/store";
import { LateAnswers } from "../dist/dispatch/lateAnswers";
import { Unremoved } from "../dist/dispatch/unremoved";

const message = (attemptMs: number): DelayedMessage => ({
  ...{ id: "7", messageId: "m", dueAt: new Date(0), attemptAt: new Date(attemptMs), failureCount: 0 },
  ...{ exchange: "", routingKey: "work", properties: {}, body: Buffer.from("x") },
});

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("answers that come after their messages were postponed", () => {
  let unremoved: Unremoved;
  let late: LateAnswers;
  let taken: number;
  let answers: { resolve: () => void; reject: (error: Error) => void }[];

  beforeEach(() => {
    [unremoved, taken, answers] = [new Unremoved(), 0, []];
    late = new LateAnswers(unremoved);
  });

  const wait = (one: DelayedMessage): void =>
    late.await(one, new Promise((resolve, reject) => answers.push({ resolve, reject })), () => taken++);

  it("keep a message from being published once more, at whatever time it is due again by then", async () => {
    wait(message(0));
    late.postpone(message(0), new Date(500));
    late.postpone(message(500), new Date(900));
    answers[0]?.resolve();
    await soon();
    assert.deepEqual(
      [0, 500, 900].map((ms) => unremoved.has(message(ms))),
      [false, false, true],
    );
    assert.equal(taken, 1);
  });

  it("do so, too, if they come while it is being postponed", async () => {
    wait(message(0));
    answers[0]?.resolve();
    await soon();
    late.postpone(message(0), new Date(500));
    assert.deepEqual([unremoved.has(message(0)), unremoved.has(message(500))], [false, true]);
  });

  it("say nothing of a message that was rescheduled, or that the broker has refused", async () => {
    wait(message(0));
    answers[0]?.reject(new Error("closed"));
    await soon();
    late.postpone(message(0), new Date(500));
    assert.ok(!unremoved.has(message(500)));
    wait(message(500));
    answers[1]?.resolve();
    await soon();
    assert.ok(!unremoved.has(message(8000)));
  });

  it("count whichever of them comes first, where a message was sent twice", async () => {
    wait(message(0));
    wait(message(0));
    answers[0]?.reject(new Error("closed"));
    await soon();
    assert.ok(!unremoved.has(message(0)));
    answers[1]?.resolve();
    await soon();
    assert.deepEqual([unremoved.has(message(0)), taken], [true, 1]);
  });
});
