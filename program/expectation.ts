import type { Expectation, VersionNeed } from "@rabbitmq-delay/broker";
import {
  DelayNetwork,
  DelayedStore,
  EndpointPlan,
  EntityPlan,
  RetryDescriptor,
  checkEndpointsApart,
  deliveryLimitPolicies,
  endpointLimitPolicies,
  networkLimitPolicies,
  ownedNames,
  delayedRetryVersion,
  parkingPolicy,
  planBinding,
  planOwnership,
  planDelayedStore,
  planEntities,
  planRetry,
} from "@rabbitmq-delay/topology";
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
 * @param brokerVersion decides whether delivery limits have to be lifted; undefined where it is not known
 * @param owner whose the endpoints are
 * @throws DelayTopologyError for endpoints that the network can't tell apart
 */
export function expectationOf(
  { network, retries, store }: Planned,
  config: ProgramConfig,
  brokerVersion: string | undefined,
  owner: string,
): Expectation {
  const { exchanges, queues } = planEntities(network);
  const retryPlans = retries.map(planRetry);
  const others: EntityPlan[] = [...retryPlans, ...(store === undefined ? [] : [planDelayedStore(store)])];
  const plans: EndpointPlan[] = config.endpoints.map((endpoint) => planBinding(network, endpoint));
  checkEndpointsApart(
    plans.flatMap(({ bound }) => bound),
    config.allow,
  );
  const created = config.endpoints
    .filter(({ createQueue }) => createQueue)
    .map(({ name, queueType = "quorum" }) => ({
      name,
      durable: true as const,
      arguments: { "x-queue-type": queueType },
    }));
  const own = [parkingPolicy(network), ...retryPlans.map(({ policy }) => policy)].filter(
    (policy) => policy !== undefined,
  );
  const storeUsers = typeof config.delayedStore?.user === "string" ? [config.delayedStore.user] : [];
  return {
    vhost: config.vhost,
    entities: {
      exchanges: [...exchanges, ...others.flatMap((plan) => plan.exchanges)],
      queues: [...queues, ...others.flatMap((plan) => plan.queues), ...created],
    },
    policies: [
      ...own,
      ...networkLimitPolicies(network, { brokerVersion }),
      ...deliveryLimitPolicies(
        others.flatMap((plan) => plan.queues),
        { brokerVersion },
        own,
      ),
      ...created.flatMap((queue) => endpointLimitPolicies(queue, network.preset, { brokerVersion })),
    ],
    claims: [
      ...config.endpoints.flatMap((endpoint) =>
        ownedNames(endpoint).map((name) => planOwnership("endpoint", name, owner)),
      ),
      ...storeUsers.map((user) => planOwnership("user", user, owner)),
    ],
    formerOwners: config.formerOwners,
    makesUsers: storeUsers.length > 0,
    users: storeUsers,
    adopt: config.delayedStore?.adopt === true,
    bindings: plans.flatMap(({ bindings }) => bindings),
    needs: retries.flatMap(versionNeed),
    minimumNodes: config.production && !config.allow.includes("single-node") ? PRODUCTION_NODES : undefined,
    replaceable: config.removal === "delete",
    groups: [{ exchanges, queues }, ...others],
    declarers: [
      ...created.map(({ name }) => [name, "EndpointDelayBinding"] as const),
      ...config.workQueues.map(({ queue }) => [queue, "WorkRetryQueues"] as const),
      ...config.delayedRetryQueues.map(({ queue }) => [queue, "DelayedRetryQueue"] as const),
    ],
    createsVhost: config.createVhost,
    allowedFaults: config.allow,
  };
}

function versionNeed(descriptor: RetryDescriptor): VersionNeed[] {
  if (descriptor.kind !== "delayed-retry") return [];
  return [{ version: delayedRetryVersion(descriptor), reason: `the delayed retry of queue ${descriptor.queue}` }];
}
