import { Expectation, VersionNeed } from "rabbitmq-delay";
import {
  DelayNetwork,
  EndpointPlan,
  RetryDescriptor,
  checkEndpointsApart,
  delayedRetryVersion,
  parkingPolicy,
  planBinding,
  planEntities,
  planRetry,
} from "rabbitmq-delay-topology";
import type { ProgramConfig } from "./config";
import { PRODUCTION_NODES } from "./production";

/**
 * What this stack is going to declare, for the look at the broker before.
 * @throws DelayTopologyError for endpoints that the network can't tell apart
 */
export function expectationOf(network: DelayNetwork, retries: RetryDescriptor[], config: ProgramConfig): Expectation {
  const { exchanges, queues } = planEntities(network);
  const retryPlans = retries.map(planRetry);
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
      exchanges: [...exchanges, ...retryPlans.flatMap((plan) => plan.exchanges)],
      queues: [...queues, ...retryPlans.flatMap((plan) => plan.queues), ...created],
    },
    policies: [parkingPolicy(network), ...retryPlans.map(({ policy }) => policy)].filter(
      (policy) => policy !== undefined,
    ),
    bindings: plans.flatMap(({ bindings }) => bindings),
    needs: retries.flatMap(versionNeed),
    minimumNodes: config.production && !config.allow.includes("single-node") ? PRODUCTION_NODES : undefined,
    replaceable: config.removal === "delete",
  };
}

function versionNeed(descriptor: RetryDescriptor): VersionNeed[] {
  if (descriptor.kind !== "delayed-retry") return [];
  return [{ version: delayedRetryVersion(descriptor), reason: `the delayed retry of queue ${descriptor.queue}` }];
}
