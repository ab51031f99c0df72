import type { Expectation, VersionNeed } from "@rabbitmq-delay/broker";
import {
  ConfiguredNetwork,
  ConfiguredNetworks,
  DelayedStore,
  EndpointConfig,
  EndpointPlan,
  EntityPlan,
  QueuePlan,
  RetryDescriptor,
  checkEndpointsApart,
  deliveryLimitPolicies,
  endpointLimitPolicies,
  networkLimitPolicies,
  ownedNames,
  delayedRetryVersion,
  limitingPreset,
  parkingPolicy,
  planBinding,
  planOwnership,
  planDelayedStore,
  planEntities,
  planErrorQueue,
  planRetry,
} from "@rabbitmq-delay/topology";
import type { ProgramConfig } from "./config";
import { PRODUCTION_NODES } from "./production";

/** What a stack's config comes to. */
export interface Planned {
  networks: ConfiguredNetworks;
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
  { networks: { networks, joinedBy }, retries, store }: Planned,
  config: ProgramConfig,
  brokerVersion: string | undefined,
  owner: string,
): Expectation {
  const shapes = networks.map(({ network }) => network);
  const networkPlans = shapes.map(planEntities);
  const retryPlans = retries.map(planRetry);
  const errorQueues = [...new Set(config.endpoints.map(({ errorQueue }) => errorQueue))].filter(
    (name) => name !== undefined,
  );
  const others: EntityPlan[] = [
    ...retryPlans,
    ...(store === undefined ? [] : [planDelayedStore(store)]),
    ...errorQueues.map(planErrorQueue),
  ];
  const parts = [...networkPlans, ...others];
  const plans = networks.flatMap((one) => plansIn(one, config, joinedBy));
  const created = config.endpoints
    .filter(({ createQueue }) => createQueue)
    .map((endpoint) => ({ endpoint, queue: queueOf(endpoint) }));
  const own = [...shapes.map(parkingPolicy), ...retryPlans.map(({ policy }) => policy)].filter(
    (policy) => policy !== undefined,
  );
  const storeUsers = typeof config.delayedStore?.user === "string" ? [config.delayedStore.user] : [];
  return {
    vhost: config.vhost,
    entities: {
      exchanges: parts.flatMap((plan) => plan.exchanges),
      queues: [...parts.flatMap((plan) => plan.queues), ...created.map(({ queue }) => queue)],
    },
    policies: [
      ...own,
      ...shapes.flatMap((network) => networkLimitPolicies(network, { brokerVersion })),
      ...deliveryLimitPolicies(
        others.flatMap((plan) => plan.queues),
        { brokerVersion },
        own,
      ),
      ...created.flatMap(({ endpoint, queue }) =>
        endpointLimitPolicies(queue, limitingPreset(joinedBy(endpoint)), { brokerVersion }),
      ),
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
    groups: parts,
    declarers: [
      ...created.map(({ endpoint }) => [endpoint.name, "EndpointDelayBinding"] as const),
      ...config.workQueues.map(({ queue }) => [queue, "WorkRetryQueues"] as const),
      ...config.delayedRetryQueues.map(({ queue }) => [queue, "DelayedRetryQueue"] as const),
    ],
    createsVhost: config.createVhost,
    allowedFaults: config.allow,
  };
}

/**
 * The endpoints of a network, planned.
 * @throws DelayTopologyError for endpoints that the network can't tell apart
 */
function plansIn(
  one: ConfiguredNetwork,
  { endpoints, allow }: ProgramConfig,
  joinedBy: ConfiguredNetworks["joinedBy"],
): EndpointPlan[] {
  const joining = endpoints.filter((endpoint) => joinedBy(endpoint).includes(one));
  const plans = joining.map((endpoint) => planBinding(one.network, endpoint));
  const bound = plans.flatMap((plan) => plan.bound);
  checkEndpointsApart(bound, allow);
  return plans;
}

function queueOf({ name, queueType = "quorum" }: EndpointConfig): QueuePlan {
  return { name, durable: true, arguments: { "x-queue-type": queueType } };
}

function versionNeed(descriptor: RetryDescriptor): VersionNeed[] {
  if (descriptor.kind !== "delayed-retry") return [];
  return [{ version: delayedRetryVersion(descriptor), reason: `the delayed retry of queue ${descriptor.queue}` }];
}
