import { isTakenWith } from "@rabbitmq-delay/topology/stack";
import { InForce, PolicyInForce, PolicyTarget, isSurelyFor } from "./policiesInForce";
import { isAlike } from "./policyReach";

/** A policy that may apply in one state, and the policy that may apply in the next state instead; undefined for none. */
interface Turn {
  from?: PolicyInForce;
  to?: PolicyInForce;
}

/**
 * Lists which policies may follow each other on a queue or an exchange, except a policy that goes on unchanged.
 * @param before the target in the earlier state
 * @param after the target in the later state
 */
export function turnsOf(earlier: InForce, later: InForce, before: PolicyTarget, after: PolicyTarget): Turn[] {
  return mayApply(earlier).flatMap((from) =>
    mayApply(later)
      .filter((to) => {
        if (from !== undefined && from.change === to?.change) return !isUnchanged(from, to);
        const isOver = from !== undefined && !goesOn(from, later, after);
        return isOver || (to !== undefined && !goesOn(to, earlier, before));
      })
      .map((to) => ({ from, to })),
  );
}

function mayApply({ found, isSure }: InForce): (PolicyInForce | undefined)[] {
  return isSure ? found : [...found, undefined];
}

/** Whether a policy that applies in one state also applies in another state, with the same precedence. */
function goesOn(one: PolicyInForce, { found }: InForce, target: PolicyTarget): boolean {
  const isAsFar = ({ view }: PolicyInForce): boolean =>
    isSurelyFor(view, target) || (isAlike(one.view, view) && isTakenOn(one, view, target));
  return found.some(
    (other) =>
      other.change === one.change &&
      (isUnchanged(one, other) || (other.view.priority === one.view.priority && isAsFar(other))),
  );
}

function isTakenOn({ view }: PolicyInForce, other: PolicyInForce["view"], { queueArguments }: PolicyTarget): boolean {
  return queueArguments === undefined || isTakenWith(view, other, queueArguments);
}

/** Whether a policy is the same in two states. */
function isUnchanged(one: PolicyInForce, other: PolicyInForce): boolean {
  return one.change === other.change && JSON.stringify(one.view) === JSON.stringify(other.view);
}
