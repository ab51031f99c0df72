import {
  appliesTo,
  certainlyAppliesTo,
  describeQueueKey,
  escapeRegex,
  isLiftedLimit,
} from "@rabbitmq-delay/topology/stack";
import type { LiveContent, LiveVhost } from "./liveVhost";
import { Unplaced, differs, note } from "./remark";

/** Priority of the policy that a stack sets for an endpoint's queue. */
const OWN_PRIORITY = 100;
/** From this version on, a stack sets a policy for each quorum queue. */
const FIRST_WITH_LIMIT = 4;

/** Keys of a policy that an endpoint's queue keeps, and what there is to say of them. */
export interface KeptPolicy {
  queuePolicy?: Record<string, string | number>;
  remarks: Unplaced[];
}

/**
 * Finds the policy that applies to a queue by the queue's name and type, because the broker shows the policy of a queue seconds late. What the
 * broker shows decides between policies of one priority, and where a pattern may be read in several ways.
 */
function policyInForce(
  { name, arguments: values, policy: shown }: LiveContent["queues"][number],
  policies: LiveContent["policies"],
): LiveContent["policies"][number] | undefined {
  const isHeeded = (policy: LiveContent["policies"][number]): boolean =>
    certainlyAppliesTo({ ...policy, pattern: `^${escapeRegex(name)}$` }, name, values);
  const matching = policies.filter(
    (policy) =>
      !policy.isOperator &&
      appliesTo(policy, name, values) &&
      (policy.name === shown ||
        certainlyAppliesTo(policy, name, values) ||
        (typeof shown !== "string" && isHeeded(policy))),
  );
  const strongest = Math.max(...matching.map(({ priority }) => priority));
  const first = matching.filter(({ priority }) => priority === strongest);
  return first.find((policy) => policy.name === shown) ?? first[0];
}

/**
 * Finds the keys of somebody's policy that applies to a queue: the stack's own policy would push it off, because only one policy applies to a
 * queue.
 */
export function keptPolicy(name: string, preset: string, { content, queues }: LiveVhost): KeptPolicy {
  const queue = queues.get(name);
  const own = [`${name}.delivery-limit`, `nsb.${name}.delivery-limit`];
  const inForce = queue === undefined ? undefined : policyInForce(queue, content.policies);
  const isPushedOff =
    parseInt(content.version, 10) >= FIRST_WITH_LIMIT && queue?.arguments["x-queue-type"] === "quorum";
  if (inForce === undefined || !isPushedOff || own.includes(inForce.name) || inForce.priority >= OWN_PRIORITY)
    return { remarks: [] };
  // An endpoint of NServiceBus starts with one limit alone.
  const isOwnLimit = (value: unknown): boolean => isLiftedLimit(value) || preset.startsWith("nservicebus");
  const keys = Object.entries(inForce.definition).filter(
    ([key, value]) => key !== "delivery-limit" || !isOwnLimit(value),
  );
  const faults = keys.map(([key, value]) => [key, describeQueueKey(key, value, "quorum")] as const);
  const lost = faults.filter(([, fault]) => fault !== undefined);
  const plain = keys.filter(([key]) => !lost.some(([other]) => other === key)) as [string, string | number][];
  const refused = lost.map(([key, fault]) =>
    differs(
      `policy ${inForce.name} applies to it, and only one policy applies to a queue: the stack's takes its ${key} away, and queuePolicy can't keep ` +
        `it (${fault})`,
    ),
  );
  if (plain.length === 0) return { remarks: refused };
  const names = plain.map(([key]) => key).join(", ");
  return {
    queuePolicy: Object.fromEntries(plain),
    remarks: [
      ...refused,
      note(
        `policy ${inForce.name} applies to it, and only one policy applies to a queue: queuePolicy takes its ${names} into the policy that the stack sets`,
      ),
    ],
  };
}
