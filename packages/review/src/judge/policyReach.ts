import { certainlyAppliesTo, isTakenWith } from "@rabbitmq-delay/topology/stack";
import { isReadable } from "../preview/entityChange";
import type { PolicyView } from "./policiesInForce";

/** Whether two versions of a policy apply to the same, with the same precedence. */
export function isAlike(one: PolicyView, other: PolicyView): boolean {
  return (
    one.vhost === other.vhost &&
    isSame(one.pattern, other.pattern) &&
    isSame(one.applyTo, other.applyTo) &&
    one.priority === other.priority
  );
}

/**
 * Whether `later` surely applies to no more than `earlier` did, and takes precedence no more often.
 * @param only arguments of the only queue to which the policy may apply; undefined for other queues
 */
export function reachesNoMore(earlier: PolicyView, later: PolicyView, only?: Record<string, unknown>): boolean {
  return (
    earlier.vhost === later.vhost &&
    (isSame(earlier.pattern, later.pattern) || isOneOf(later.pattern, earlier.pattern)) &&
    (isSame(earlier.applyTo, later.applyTo) || earlier.applyTo === "all") &&
    later.priority <= earlier.priority &&
    isTakenAlso(later, earlier, only)
  );
}

/** Two secret texts need not be the same. */
function isSame(one: string, other: string): boolean {
  return one === other && isReadable(one);
}

/**
 * Whether `later` may apply to less than `earlier` did, or take precedence less often.
 * @param only see {@link reachesNoMore}
 */
export function isNarrower(earlier: PolicyView, later: PolicyView, only?: Record<string, unknown>): boolean {
  return (
    earlier.vhost !== later.vhost ||
    !isSame(earlier.pattern, later.pattern) ||
    (!isSame(earlier.applyTo, later.applyTo) && later.applyTo !== "all") ||
    !(later.priority >= earlier.priority) ||
    !isTakenAlso(earlier, later, only)
  );
}

/** Whether each queue that takes all settings of one policy also takes those of another one. */
function isTakenAlso(one: PolicyView, other: PolicyView, only?: Record<string, unknown>): boolean {
  if (one.applyTo === "exchanges") return true;
  const type = /^(classic|quorum|stream)(_queue)?s$/.exec(one.applyTo)?.[1];
  return isTakenWith(one, other, type === undefined ? only : { "x-queue-type": type });
}

/** Whether a pattern matches a single name, which the other pattern matches, too. */
function isOneOf(pattern: string, other: string): boolean {
  const literal = literalOf(pattern);
  return literal !== undefined && certainlyAppliesTo({ pattern: other, applyTo: "all", definition: {} }, literal);
}

/** The single name that a pattern matches; undefined where it may match more. */
export function literalOf(pattern: string): string | undefined {
  return /^\^((?:[\w-]|\\[^\w])+)\$$/.exec(pattern)?.[1]?.replace(/\\(.)/g, "$1");
}
