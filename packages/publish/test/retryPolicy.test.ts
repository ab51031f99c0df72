import { strict as assert } from "node:assert";
import { delayNetwork, retryIntervals } from "rabbitmq-delay-topology";
import {
  RetryPolicy,
  throughDelayNetwork,
  throughDelayedExchange,
  throughRetryIntervals,
} from "rabbitmq-delay-publish";

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

  const refused: [string, () => unknown, RegExp][] = [
    ["negative tries", () => RetryPolicy.immediate(-1), /tries: -1 .*from 0/],
    ["no delayed try", () => RetryPolicy.interval(0, 5), /tries: 0 .*from 1/],
    ["half a try", () => RetryPolicy.interval(1.5, 5), /tries: 1\.5/],
    ["no delays", () => RetryPolicy.intervals([]), /intervals: \[\]/],
    ["a delay of zero", () => RetryPolicy.intervals([0]), /intervals\[0\]: 0/],
    ["a fraction", () => RetryPolicy.interval(1, 0.5), /delayMs: 0\.5 .*whole/],
    ["steps back", () => RetryPolicy.incremental(3, 100, -50), /stepMs: -50/],
    ["a shrinking factor", () => RetryPolicy.exponential(3, 1, 9, 0.5), /factor: 0\.5/],
    ["a maximum below the minimum", () => RetryPolicy.exponential(3, 9, 1), /maximumMs: 1 .*at least .*9/],
    ["what is no matcher", () => RetryPolicy.none().handle("Error" as never), /matcher: "Error"/],
  ];
  for (const [what, create, message] of refused) it(`refuses ${what}`, () => assert.throws(create, message));
});

describe("mechanisms", () => {
  it("interval queues have the declared delays only", () => {
    const mechanism = throughRetryIntervals(retryIntervals({ intervals: [1000, 5000] }));
    assert.deepEqual(mechanism.route("work", 5000), { exchange: "mt-delay-5000", routingKey: "work", headers: {} });
    assert.throws(() => mechanism.route("work", 2000), /delayMs: 2000 is not allowed; .*1000, 5000 ms/);
  });

  it("a delay network has any delay up to its maximum", () => {
    const mechanism = throughDelayNetwork(delayNetwork({ preset: "custom", prefix: "a", radix: 2, levels: 2 }));
    const route = { exchange: "a.r2x2u1000.level-01", routingKey: "1.0.work", headers: {} };
    assert.deepEqual(mechanism.route("work", 1500), route);
    assert.throws(() => mechanism.route("work", 4000), /delayMs: 4000 .*maximum is 3000 ms/);
  });

  it("the archived plugin takes the delay in a header", () => {
    const route = { exchange: "delayed", routingKey: "work", headers: { "x-delay": 1500 } };
    assert.deepEqual(throughDelayedExchange("delayed").route("work", 1500), route);
    assert.throws(() => throughDelayedExchange(""), /exchange: "" is not allowed/);
  });
});
