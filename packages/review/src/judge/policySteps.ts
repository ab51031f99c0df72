import type { EntityChange } from "../preview/entityChange";
import { Dependencies } from "./dependencies";
import { InForce, PolicyTarget, policyFor, strongestOf } from "./policiesInForce";

/** A step of the update that takes away what a policy said before, brings what it says afterwards, or does both at once. */
interface PolicyStep {
  change: EntityChange;
  takes: boolean;
  brings: boolean;
  /** Whether the engine deletes at the end of the update. */
  isLate: boolean;
}

/** Up to this many steps, each order is looked at: 64 states of a queue. */
const MAX_STEPS = 6;

/** The steps of an update that change policies, in the orders that the engine may take. */
export class PolicySteps {
  private readonly steps: PolicyStep[];
  private readonly dependencies: Dependencies;

  constructor(
    changes: readonly EntityChange[],
    private readonly policies: EntityChange[],
  ) {
    this.steps = policies.flatMap(stepsOf);
    this.dependencies = new Dependencies(changes);
  }

  /** Lists the states of a target between two steps of the update, by policies of a kind. */
  between(target: PolicyTarget, isOperators = false): InForce[] {
    const steps = this.steps.filter(({ change }) =>
      (["before", "after"] as const).some((side) => policyFor(change, target, side, isOperators).length > 0),
    );
    if (steps.length < 2) return [];
    const matching = this.policies.map((change) => ({
      change,
      before: policyFor(change, target, "before", isOperators),
      after: policyFor(change, target, "after", isOperators),
    }));
    // Any may apply: the orders of so many are not looked at.
    if (steps.length > MAX_STEPS)
      return [{ found: matching.flatMap(({ before, after }) => [...before, ...after]), isSure: false }];
    const states = Array.from({ length: 2 ** steps.length }, (_, bits) => steps.filter((_, at) => bits & (1 << at)));
    return states
      .filter((done) => this.isPossible(done, steps))
      .map((done) => {
        const has = (kind: "takes" | "brings", change: EntityChange): boolean =>
          done.some((step) => step.change === change && step[kind]);
        const found = matching.flatMap(({ change, before, after }) => [
          ...(has("takes", change) ? [] : before),
          ...(has("brings", change) ? after : []),
        ]);
        return strongestOf(found, target);
      });
  }

  private isPossible(done: PolicyStep[], steps: PolicyStep[]): boolean {
    return done.every((step) => steps.every((other) => done.includes(other) || !this.isFirst(other, step)));
  }

  /** Whether the engine takes the one step before the other, in each order. */
  private isFirst(one: PolicyStep, other: PolicyStep): boolean {
    if (one.change === other.change) return this.steps.indexOf(one) < this.steps.indexOf(other);
    if (one.isLate !== other.isLate) return other.isLate;
    if (one.isLate) return one.change.dependencies.includes(other.change.urn);
    return this.dependencies.neededBy(other.change).has(one.change.urn);
  }
}

function stepsOf(change: EntityChange): PolicyStep[] {
  const { action, isRetained, isDeletedFirst } = change;
  const made = { change, takes: false, brings: true, isLate: false };
  const gone = { change, takes: true, brings: false, isLate: false };
  const late = { ...gone, isLate: true };
  if (action === "create") return [made];
  if (action === "update") return [{ ...made, takes: true }];
  if (action === "delete") return isRetained ? [] : [late];
  if (action !== "replace") return [];
  if (isRetained) return [made];
  return isDeletedFirst === false ? [made, late] : [gone, made];
}
