import { strict as assert } from "node:assert";
import { delayNetwork, encodeDelay, planBinding } from "@rabbitmq-delay/topology";
import { isDoubtedJump } from "./plan/drawClockJump";
import { possibleFor } from "./plan/drawFaults";
import { brokerOf, describePlan, drawPlan } from "./plan/draw";
import { Part, Plan, faultKinds, mechanisms, nodeFaults } from "./plan/types";

const seeds = Array.from({ length: 800 }, (_, seed) => seed);

describe("the gauntlet's plans", () => {
  it("are the same for the same seed, and plain data that can be pasted", () => {
    for (const seed of seeds.slice(0, 30)) {
      assert.deepEqual(drawPlan(seed), drawPlan(seed));
      assert.deepEqual(JSON.parse(JSON.stringify(drawPlan(seed))), drawPlan(seed));
      assert.ok(describePlan(drawPlan(seed)).length > 0);
    }
  });

  it("draw every mechanism and every fault, on both brokers", () => {
    const plans = seeds.map((seed) => drawPlan(seed));
    const mechanismOf = (part: Part): string =>
      part.mechanism === "store" && part.database === "network" ? "gateway" : part.mechanism;
    const drawn = new Set(plans.flatMap(({ parts }) => parts.map(mechanismOf)));
    assert.deepEqual([...drawn].sort(), [...mechanisms].sort());
    const faults = new Set(plans.flatMap((plan) => plan.faults.map(({ kind }) => kind)));
    assert.deepEqual([...faults].sort(), [...faultKinds].sort());
    assert.deepEqual([brokerOf(0), brokerOf(3), brokerOf(4), brokerOf(8)], ["3.10", "3.10", "4.3", "3.10"]);
  });

  it("hold only what can be declared, published and hit", () => {
    for (const plan of seeds.map((seed) => drawPlan(seed))) {
      for (const part of plan.parts) {
        if (part.mechanism !== "network") continue;
        const network = delayNetwork(part.network);
        for (const { name, type, patterns } of part.endpoints) planBinding(network, { name, type, patterns });
        for (const { delayMs, destination } of part.messages) encodeDelay(network, delayMs, destination);
      }
      for (const { kind, part } of plan.faults) assert.ok(isPossible(plan, kind, part), `${plan.seed}: ${kind}`);
    }
  });

  it("draw clocks that jump far and a little, ahead and back; what is doubted is taken back in time, and comes once", () => {
    const plans = seeds.map((seed) => drawPlan(seed, { only: ["store"], faults: ["clock-jump"] }));
    const jumps = plans.flatMap(({ faults }) => faults);
    const sizes = jumps.map(({ byMs = 0 }) => byMs);
    for (const [from, to] of [
      [-3_600_000, -120_000],
      [-30_000, -500],
      [500, 30_000],
      [61_000, 12 * 3_600_000],
    ] as const) {
      assert.ok(
        sizes.some((byMs) => byMs >= from && byMs <= to),
        `from ${from} to ${to}`,
      );
    }
    assert.deepEqual(
      sizes.filter((byMs) => byMs === 0 || (Math.abs(byMs) > 30_000 && Math.abs(byMs) < 61_000)),
      [],
    );
    for (const { forMs = Number.NaN, byMs } of jumps)
      assert.ok(forMs >= 300 && forMs <= 20_000, `${byMs} for ${forMs}`);
    for (const { parts, faults } of plans) {
      for (const { name } of parts) {
        assert.ok(faults.filter((fault) => fault.part === name && isDoubtedJump(fault)).length <= 1);
      }
    }
  });

  it("can be aimed at mechanisms, faults and a broker", () => {
    for (const seed of seeds.slice(0, 40)) {
      const plan = drawPlan(seed, { only: ["network"], faults: ["broker-killed"], broker: "4.3" });
      assert.equal(plan.broker, "4.3");
      assert.ok(plan.parts.every(({ mechanism }) => mechanism === "network"));
      assert.ok(plan.faults.every(({ kind }) => kind === "broker-killed"));
    }
  });
});

function isPossible({ parts }: Plan, kind: Plan["faults"][number]["kind"], name: string | undefined): boolean {
  const part = parts.find((one) => one.name === name);
  return part === undefined ? (nodeFaults as readonly string[]).includes(kind) : possibleFor(part).includes(kind);
}
