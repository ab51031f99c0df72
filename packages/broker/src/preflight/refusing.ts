import type { BindingPlan, DelayedExchange, PolicyPlan } from "@rabbitmq-delay/topology";
import { networkOfDelivery, ownAppliesTo } from "@rabbitmq-delay/topology/stack";
import { FoundBinding, asPlans } from "../api/bindings";
import { LimitedQueue, refusingQueues } from "../refusingQueues";

/**
 * Warns about queues behind a network or a delayed exchange that would hold up the messages of others when they are full.
 * @param bindings those that the program declares
 * @param readBound reads those that the broker has, which is needed for delayed exchanges alone
 * @param policies those that the program declares, which take precedence over all others
 */
export async function warnOfRefusing(
  bindings: readonly BindingPlan[],
  delayedExchanges: readonly DelayedExchange[],
  readBound: () => Promise<FoundBinding[]>,
  queues: readonly LimitedQueue[],
  policies: readonly PolicyPlan[],
): Promise<string[]> {
  const deliveries = new Set(
    bindings.map(({ source }) => source).filter((source) => networkOfDelivery(source) !== undefined),
  );
  for (const { delivery } of delayedExchanges) deliveries.add(delivery);
  const there = delayedExchanges.length === 0 ? [] : asPlans(await readBound());
  const withOwnPolicies = queues.map((queue): LimitedQueue => {
    const own = policies.find((policy) => ownAppliesTo(policy, queue.name, queue.arguments));
    return own === undefined ? queue : { ...queue, effective_policy_definition: own.definition };
  });
  return [...refusingQueues(deliveries, [...bindings, ...there], withOwnPolicies).values()];
}
