import { Expectation } from "rabbitmq-delay";
import {
  DelayNetwork,
  EndpointPlan,
  RetryIntervals,
  checkEndpointsApart,
  parkingPolicy,
  planBinding,
  planEntities,
  planRetryIntervals,
} from "rabbitmq-delay-topology";
import type { ProgramConfig } from "./config";

/**
 * What this stack is going to declare, for the look at the broker before.
 * @throws DelayTopologyError for endpoints that the network can't tell apart
 */
export function expectationOf(
  network: DelayNetwork,
  intervals: RetryIntervals | undefined,
  config: ProgramConfig,
): Expectation {
  const { exchanges, queues } = planEntities(network);
  const retries = intervals === undefined ? { exchanges: [], queues: [] } : planRetryIntervals(intervals);
  const plans: EndpointPlan[] = config.endpoints.map((endpoint) => planBinding(network, endpoint));
  checkEndpointsApart(plans.flatMap(({ bound }) => bound));
  const created = config.endpoints
    .filter(({ createQueue }) => createQueue)
    .map(({ name, queueType = "quorum" }) => ({
      name,
      durable: true as const,
      arguments: { "x-queue-type": queueType },
    }));
  return {
    vhost: config.vhost,
    entities: {
      exchanges: [...exchanges, ...retries.exchanges],
      queues: [...queues, ...retries.queues, ...created],
    },
    policy: parkingPolicy(network),
    bindings: plans.flatMap(({ bindings }) => bindings),
    replaceable: config.removal === "delete",
  };
}
