import type { BindingPlan, DelayedExchange, PolicyPlan } from "@rabbitmq-delay/topology";
import { appliesTo, networkOfDelivery, ownAppliesTo } from "@rabbitmq-delay/topology/stack";
import type { PolicyAnswer } from "./checkPolicies";
import { FoundBinding, asPlans } from "../api/bindings";
import { LimitedQueue, refusingQueues } from "../refusingQueues";

/**
 * Warns about queues behind a network or a delayed exchange that would hold up the messages of others when they are full.
 * @param bindings those that the program declares
 * @param readBound reads those that the broker has, which is needed for delayed exchanges alone
 * @param policies those that the program declares, which take precedence over all others
 * @param operatorPolicies those on the broker, of which the strongest applies beside a policy
 */
export async function warnOfRefusing(
  bindings: readonly BindingPlan[],
  delayedExchanges: readonly DelayedExchange[],
  readBound: () => Promise<FoundBinding[]>,
  queues: readonly LimitedQueue[],
  policies: readonly PolicyPlan[],
  operatorPolicies: readonly PolicyAnswer[],
): Promise<string[]> {
  const deliveries = new Set(
    bindings.map(({ source }) => source).filter((source) => networkOfDelivery(source) !== undefined),
  );
  for (const { delivery } of delayedExchanges) deliveries.add(delivery);
  const there = delayedExchanges.length === 0 ? [] : asPlans(await readBound());
  const withOperators = (
    { definition }: PolicyPlan,
    { name, arguments: values }: LimitedQueue,
  ): Record<string, unknown> => {
    const [operators] = operatorPolicies
      .filter((policy) => appliesTo({ ...policy, applyTo: policy["apply-to"] }, name, values))
      .sort((one, other) => other.priority - one.priority);
    return lowerOf(definition, operators?.definition ?? {});
  };
  const withOwnPolicies = queues.map((queue): LimitedQueue => {
    const own = policies.find((policy) => ownAppliesTo(policy, queue.name, queue.arguments));
    return own === undefined ? queue : { ...queue, effective_policy_definition: withOperators(own, queue) };
  });
  return [...refusingQueues(deliveries, [...bindings, ...there], withOwnPolicies).values()];
}

/** Settings of a policy and of an operator policy together: of two numbers the lower one, else the operator's. */
function lowerOf(definition: Record<string, unknown>, operators: Record<string, unknown>): Record<string, unknown> {
  const isNumber = (value: unknown): value is number => typeof value === "number";
  const lower = Object.entries(operators).map(([key, value]) => {
    const own = definition[key];
    return [key, isNumber(own) && isNumber(value) ? Math.min(own, value) : value] as const;
  });
  return { ...definition, ...Object.fromEntries(lower) };
}
