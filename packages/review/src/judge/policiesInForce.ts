import { appliesTo, certainlyAppliesTo } from "@rabbitmq-delay/topology/stack";
import { EntityChange, isReadable, text } from "../preview/entityChange";

/** A policy as the broker reads it. */
export interface PolicyView {
  vhost: string;
  isOperators: boolean;
  pattern: string;
  applyTo: string;
  priority: number;
  definition: Record<string, unknown>;
}

/** A queue or an exchange that policies apply to. */
export interface PolicyTarget {
  vhost: unknown;
  name: unknown;
  /** Undefined for an exchange. */
  queueArguments?: Record<string, unknown>;
}

/** A policy that applies, or may apply, to a target. */
export interface PolicyInForce {
  change: EntityChange;
  view: PolicyView;
}

/** The policies of which one applies to a target. */
export interface InForce {
  found: PolicyInForce[];
  /** Whether one of them surely applies; otherwise it may be none. */
  isSure: boolean;
}

/** Before the update, or after it. */
export type Side = "before" | "after";

/**
 * The policies of which one applies to a target: those of the highest priority that surely match, and all of the same or a higher priority
 * that may match. It is not defined which one of equal priority applies.
 * @param isOperators whether the policies are operator policies: the strongest of these applies beside the strongest of the others
 */
export function policiesInForce(
  policies: EntityChange[],
  target: PolicyTarget,
  side: Side,
  isOperators = false,
): InForce {
  return strongestOf(policiesFor(policies, target, side, isOperators), target);
}

/** Those of some matching policies of which one applies. */
export function strongestOf(matching: PolicyInForce[], target: PolicyTarget): InForce {
  const sure = matching.filter(({ view }) => isSurelyFor(view, target)).map(({ view }) => view.priority);
  const strongest = Math.max(...sure, -Infinity);
  // A priority that can't be read is NaN, which is never lower than another.
  return { found: matching.filter(({ view }) => !(view.priority < strongest)), isSure: sure.length > 0 };
}

/** All policies of a kind that match a target, or may match it, whatever their priority. */
export function policiesFor(
  policies: EntityChange[],
  target: PolicyTarget,
  side: Side,
  isOperators = false,
): PolicyInForce[] {
  return policies.flatMap((change) => policyFor(change, target, side, isOperators));
}

/** Returns the policy if it is of a kind, and matches a target, or may match it. */
export function policyFor(
  change: EntityChange,
  target: PolicyTarget,
  side: Side,
  isOperators: boolean,
): PolicyInForce[] {
  const view = viewOn(change, side);
  return view?.isOperators === isOperators && mayBeFor(view, target) ? [{ change, view }] : [];
}

/** What a policy says before or after the update; undefined if it does not exist then, or can't be read. */
export function viewOn(change: EntityChange, side: Side): PolicyView | undefined {
  return viewOf(change, valuesOn(change, side));
}

/** Values of a policy before or after the update: before it, those of the broker if they differ from the state's. */
export function valuesOn(change: EntityChange, side: Side): Record<string, unknown> | undefined {
  const { action, isRetained, live } = change;
  const isLeft = (action === "delete" && isRetained) || (action === "same" && live !== undefined);
  if (side === "after" && !isLeft) return change.after;
  return live === undefined ? change.before : live.values;
}

const views = new WeakMap<object, { view?: PolicyView }>();

/**
 * Reads a policy from the engine's values; undefined if its pattern or its settings are secret, or not known yet. Each is read once,
 * because a thousand policies may be compared with a thousand queues.
 */
export function viewOf(change: EntityChange, values: Record<string, unknown> | undefined): PolicyView | undefined {
  if (values === undefined) return undefined;
  const known = views.get(values) ?? { view: readView(change, values) };
  views.set(values, known);
  return known.view;
}

function readView({ type }: EntityChange, values: Record<string, unknown>): PolicyView | undefined {
  const policy = values.policy as Record<string, unknown> | undefined;
  if (typeof policy !== "object" || policy === null) return undefined;
  const { pattern, applyTo, priority, definition } = policy;
  // A text in this place is a secret, or not known yet.
  if (typeof pattern !== "string" || typeof definition !== "object" || definition === null) return undefined;
  return {
    vhost: text(values.vhost),
    isOperators: /operatorPolicy/i.test(type),
    pattern,
    applyTo: typeof applyTo === "string" ? applyTo : "all",
    priority: Number(priority ?? 0),
    definition: definition as Record<string, unknown>,
  };
}

/** Whether a policy applies to a target, or may apply: anything that can't be read counts as applying. */
export function mayBeFor(view: PolicyView, { vhost, name, queueArguments }: PolicyTarget): boolean {
  if (isReadable(vhost) && isReadable(view.vhost) && vhost !== view.vhost) return false;
  const isKnown = isReadable(name) && isReadable(view.pattern);
  const scope = {
    ...view,
    pattern: isKnown ? view.pattern : "",
    applyTo: isReadable(view.applyTo) ? view.applyTo : "all",
  };
  // A queue without a type has the vhost's, which may be stream.
  const kinds =
    queueArguments?.["x-queue-type"] === undefined && scope.applyTo === "streams" ? "queues" : scope.applyTo;
  return appliesTo({ ...scope, applyTo: kinds }, text(name), queueArguments);
}

/** Whether a policy applies to a target for certain: everything about both is known, and the match is not in doubt. */
export function isSurelyFor(view: PolicyView, { vhost, name, queueArguments }: PolicyTarget): boolean {
  const isKnown = [vhost, name, view.vhost, view.pattern, view.applyTo].every(isReadable);
  return isKnown && vhost === view.vhost && certainlyAppliesTo(view, text(name), queueArguments);
}
