import { Expectation, VersionNeed } from "rabbitmq-delay";
import {
  DelayNetwork,
  DelayedStore,
  EndpointPlan,
  EntityPlan,
  RetryDescriptor,
  checkEndpointsApart,
  delayedRetryVersion,
  parkingPolicy,
  planBinding,
  planDelayedStore,
  planEntities,
  planRetry,
} from "rabbitmq-delay-topology";
import type { ProgramConfig } from "./config";
import { PRODUCTION_NODES } from "./production";

/** What a stack's config comes to. */
export interface Planned {
  network: DelayNetwork;
  retries: RetryDescriptor[];
  store: DelayedStore | undefined;
}

/**
 * What this stack is going to declare, for the look at the broker before.
 * @throws DelayTopologyError for endpoints that the network can't tell apart
 */
export function expectationOf({ network, retries, store }: Planned, config: ProgramConfig): Expectation {
  const { exchanges, queues } = planEntities(network);
  const retryPlans = retries.map(planRetry);
  const others: EntityPlan[] = [...retryPlans, ...(store === undefined ? [] : [planDelayedStore(store)])];
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
      exchanges: [...exchanges, ...others.flatMap((plan) => plan.exchanges)],
      queues: [...queues, ...others.flatMap((plan) => plan.queues), ...created],
    },
    policies: [parkingPolicy(network), ...retryPlans.map(({ policy }) => policy)].filter(
      (policy) => policy !== undefined,
    ),
    bindings: plans.flatMap(({ bindings }) => bindings),
    needs: retries.flatMap(versionNeed),
    minimumNodes: config.production && !config.allow.includes("single-node") ? PRODUCTION_NODES : undefined,
    replaceable: config.removal === "delete",
    createsVhost: config.createVhost,
  };
}

function versionNeed(descriptor: RetryDescriptor): VersionNeed[] {
  if (descriptor.kind !== "delayed-retry") return [];
  return [{ version: delayedRetryVersion(descriptor), reason: `the delayed retry of queue ${descriptor.queue}` }];
}
