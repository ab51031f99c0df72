import { strict as assert } from "node:assert";
import type { Violation } from "./invariants/violation";
import { drawPlan } from "./plan/draw";
import type { Plan, StorePart } from "./plan/types";
import { shrink, sizeOf, smaller } from "./shrink";

/** Seeds whose plans have several parts, faults and many messages. */
const large = Array.from({ length: 60 }, (_, seed) => drawPlan(seed)).filter(
  ({ parts, faults }) => parts.length > 1 && faults.length > 1,
);

describe("the gauntlet's shrinking", () => {
  it("only makes plans smaller, and leaves the given one as it is", () => {
    for (const plan of large) {
      const before = JSON.stringify(plan);
      for (const candidate of smaller(plan, violationOf(plan))) {
        assert.ok(sizeOf(candidate) <= sizeOf(plan));
        assert.notEqual(JSON.stringify(candidate), before);
      }
      assert.equal(JSON.stringify(plan), before);
    }
  });

  it("finds the one message and the one fault that a failure needs", async () => {
    const plan = large.find(({ parts }) => parts.every(({ mechanism }) => mechanism !== "command")) as Plan;
    const violation = violationOf(plan);
    const [fault] = plan.faults;
    const breaks = (candidate: Plan): Promise<Violation | undefined> =>
      Promise.resolve(
        hasMessage(candidate, violation.n as string) && candidate.faults.some(({ kind }) => kind === fault?.kind)
          ? violation
          : undefined,
      );
    const found = await shrink(plan, violation, breaks, () => false);
    assert.equal(found.parts.length, 1);
    assert.equal(found.faults.length, 1);
    assert.deepEqual(
      found.parts.flatMap((part) => (part.mechanism === "command" ? [] : part.messages.map(({ n }) => n))),
      [violation.n],
    );
  });

  it("finds the one clock that jumps, of a store that shrinks with it", async () => {
    const plans = Array.from({ length: 60 }, (_, seed) => drawPlan(seed, { only: ["store"], faults: ["clock-jump"] }));
    const plan = plans.find(({ parts, faults }) => parts.length > 1 && faults.length > 1) as Plan;
    const fault = plan.faults.at(-1) as Plan["faults"][number];
    const part = plan.parts.find(({ name }) => name === fault.part) as StorePart;
    const violation: Violation = { invariant: "early", part: part.name, n: part.messages[0]?.n, detail: "" };
    const breaks = (candidate: Plan): Promise<Violation | undefined> =>
      Promise.resolve(
        hasMessage(candidate, violation.n as string) && candidate.faults.includes(fault) ? violation : undefined,
      );
    const found = await shrink(plan, violation, breaks, () => false);
    assert.deepEqual(found.faults, [fault]);
    assert.deepEqual(
      found.parts.map(({ name }) => name),
      [part.name],
    );
    assert.equal((found.parts[0] as StorePart).messages.length, 1);
  });

  it("ends with what it has when its time is over", async () => {
    const plan = large[0] as Plan;
    assert.equal(
      await shrink(
        plan,
        violationOf(plan),
        () => Promise.resolve(undefined),
        () => true,
      ),
      plan,
    );
  });
});

function violationOf({ parts }: Plan): Violation {
  const part = parts.find(({ mechanism }) => mechanism !== "command") ?? parts[0];
  const n = part === undefined || part.mechanism === "command" ? undefined : part.messages[0]?.n;
  return { invariant: "lost", part: part?.name ?? "", n, detail: "" };
}

function hasMessage({ parts }: Plan, n: string): boolean {
  return parts.some((part) => part.mechanism !== "command" && part.messages.some((message) => message.n === n));
}
