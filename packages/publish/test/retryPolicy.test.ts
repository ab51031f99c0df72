import { strict as assert } from "node:assert";
import { RetryPolicy } from "@rabbitmq-delay/publish";
import { delayedRetry, retryIntervals, workRetry } from "@rabbitmq-delay/topology";

class Refused extends Error {}
class Denied extends Refused {}

describe("RetryPolicy", () => {
  it("says when to try again", () => {
    assert.deepEqual(RetryPolicy.none().delaysMs, []);
    assert.equal(RetryPolicy.immediate(3).immediateTries, 3);
    assert.deepEqual(RetryPolicy.intervals([5000, "1m", "1m"]).delaysMs, [5000, 60_000, 60_000]);
    assert.deepEqual(RetryPolicy.interval(3, 10).delaysMs, [10, 10, 10]);
    assert.deepEqual(RetryPolicy.incremental(3, 100, 50).delaysMs, [100, 150, 200]);
    assert.deepEqual(RetryPolicy.exponential(5, 100, 1000).delaysMs, [100, 200, 400, 800, 1000]);
    assert.deepEqual(RetryPolicy.exponential(3, 100, 1000, 1.5).delaysMs, [100, 150, 225]);
    const both = RetryPolicy.immediate(2).intervals(["5s"]);
    assert.deepEqual([both.immediateTries, both.delaysMs], [2, [5000]]);
  });

  it("chooses by class or predicate; ignore wins", () => {
    const policy = RetryPolicy.immediate(1).handle(Refused, (error) => error === "odd");
    assert.deepEqual(
      [new Refused(), new Denied(), new Error(), "odd", "even"].map((error) => policy.retries(error)),
      [true, true, false, true, false],
    );
    const without = policy.ignore(Denied);
    assert.deepEqual([without.retries(new Refused()), without.retries(new Denied())], [true, false]);
    assert.equal(policy.retries(new Denied()), true, "a policy doesn't change");
    assert.equal(RetryPolicy.immediate(1).retries("anything"), true);
  });

  it("knows classes that are no errors, new and old: else each failure would throw again, and its message go round for ever", () => {
    class Invalid {}
    function Old(this: { code: number }): void {
      this.code = 5;
    }
    Old.prototype.describe = (): string => "old";
    const old = Object.create(Old.prototype as object) as object;
    const policy = RetryPolicy.immediate(1).ignore(Invalid, Old as never, DOMException);
    const thrown = [new Invalid(), old, new DOMException(), new Error(), Object.create(null), undefined];
    assert.deepEqual(
      thrown.map((error) => policy.retries(error)),
      [false, false, false, true, true, true],
    );
    const predicate = function (error: unknown): boolean {
      return error === "odd";
    };
    assert.deepEqual(
      ["odd", "even"].map((error) => RetryPolicy.none().handle(predicate).retries(error)),
      [true, false],
    );
  });

  // A promise is true, whatever comes of it: such an ignore sends each failure to the error queue, and a rejection ends the process.
  it("refuses functions that answer later, at once where it can be seen", () => {
    const later = (): never => Promise.reject(new Error("too late")) as never;
    for (const policy of [RetryPolicy.none().ignore(later), RetryPolicy.none().handle(later)])
      assert.throws(() => policy.retries("x"), /matcher: "a promise" is not allowed; .*at once/);
    const async = (async () => Promise.resolve(false)) as never;
    assert.throws(() => RetryPolicy.none().ignore(async), /matcher: "an async function" is not allowed; .*at once/);
  });

  it("takes the redeliveries that a stack declared", () => {
    const work = workRetry({ queue: "work", delays: [10, 70], maxRetries: 3 });
    assert.deepEqual(RetryPolicy.declared(work).delaysMs, [10, 70, 70]);
    assert.deepEqual(RetryPolicy.declared({ ...work, maxRetries: 0 }).delaysMs, []);
    assert.deepEqual(RetryPolicy.declared(retryIntervals({ intervals: [9, 1] })).delaysMs, [1, 9]);
    assert.deepEqual(RetryPolicy.declared(delayedRetry({ queue: "a", minMs: 4, deliveryLimit: 2 })).delaysMs, [4, 8]);
    const endless = delayedRetry({ queue: "a", minMs: 4, deliveryLimit: 1001 });
    assert.throws(() => RetryPolicy.declared(endless), /descriptor: 1001 is not allowed/);
  });

  const refused: [string, () => unknown, RegExp][] = [
    ["negative tries", () => RetryPolicy.immediate(-1), /tries: -1 .*from 0/],
    ["no delayed try", () => RetryPolicy.interval(0, 5), /tries: 0 .*from 1/],
    ["half a try", () => RetryPolicy.interval(1.5, 5), /tries: 1\.5/],
    ["no delays", () => RetryPolicy.intervals([]), /intervals: \[\]/],
    ["a delay of zero", () => RetryPolicy.intervals([5, 0]), /intervals\[1\]: 0 is not allowed; .*from 1/],
    ["a fraction", () => RetryPolicy.interval(1, 0.5), /delayMs: 0\.5 .*whole/],
    ["steps back", () => RetryPolicy.incremental(3, 100, -50), /stepMs: -50/],
    ["a shrinking factor", () => RetryPolicy.exponential(3, 1, 9, 0.5), /factor: 0\.5/],
    ["a maximum below the minimum", () => RetryPolicy.exponential(3, 9, 1), /maximumMs: 1 .*at least .*9/],
    ["what is no matcher", () => RetryPolicy.none().handle("Error" as never), /matcher: "Error"/],
  ];
  for (const [what, create, message] of refused) it(`refuses ${what}`, () => assert.throws(create, message));
});
