import type { Expectation, VersionNeed } from "@rabbitmq-delay/broker";
import {
  DelayNetwork,
  EntityPlan,
  PolicyPlan,
  RetryDescriptor,
  delayedRetryVersion,
  planDelayedExchange,
  parkingPolicy,
  planErrorQueue,
  planRetry,
  WorkRetry,
} from "@rabbitmq-delay/topology";
import {
  EndpointConfig,
  StackPlan,
  adoptedEndpoint,
  adoptedNetwork,
  adoptedWorkQueue,
  deliveryLimitPolicies,
  endpointLimitPolicies,
  errorQueuesOf,
  limitingPreset,
  networkLimitPolicies,
  ownErrorQueue,
  planEndpoints,
  planEndpointOwnership,
  planOwnership,
} from "@rabbitmq-delay/topology/stack";
import type { ProgramConfig } from "./config";
import { PRODUCTION_NODES } from "./production";

/**
 * What this stack is going to declare, for the look at the broker before.
 * @param brokerVersion decides whether delivery limits have to be lifted; undefined where it is not known
 * @param owner whose the endpoints are
 * @throws DelayTopologyError for endpoints that a network can't tell apart
 */
export function expectationOf(
  plan: StackPlan,
  config: ProgramConfig,
  brokerVersion: string | undefined,
  owner: string,
): Expectation {
  const { retries, parts, created } = plan;
  const { networks, joinedBy } = plan.networks;
  const bound = planEndpoints(plan, config);
  const shapes = networks.map(({ network }) => network);
  const plans = parts.map(({ entities }) => entities);
  const declared = created.map(({ entities }) => entities);
  const others = parts.filter(({ place }) => networks.every((one) => one.place !== place));
  const delaying = plan.exchanges.map(planDelayedExchange);
  const own = [
    ...shapes.map(parkingPolicy),
    ...retries.map((descriptor) => planRetry(descriptor).policy),
    ...delaying.flatMap(({ policies }) => policies),
  ].filter((policy) => policy !== undefined);
  const ofNetwork = (network: DelayNetwork): PolicyPlan[] =>
    [parkingPolicy(network), ...networkLimitPolicies(network, { brokerVersion })].filter(
      (policy) => policy !== undefined,
    );
  const ofEndpoint = ({ endpoint, entities }: StackPlan["created"][number]): PolicyPlan[] =>
    entities.queues.flatMap((queue) =>
      endpointLimitPolicies(queue, limitingPreset(joinedBy(endpoint)), {
        brokerVersion,
        queuePolicy: endpoint.queuePolicy,
      }),
    );
  const errorsOf = ({ errorQueue }: EndpointConfig): EntityPlan | undefined => {
    const own = ownErrorQueue({ errorQueue }, config.errorQueues);
    return own === undefined ? undefined : planErrorQueue(own);
  };
  const processes = [config.delayedStore, config.delayGateway];
  const users = processes.map((process) => process?.user).filter((user) => user !== undefined);
  const returnQueues = plan.gateway === undefined ? [] : [plan.gateway.returnQueue];
  return {
    vhost: config.vhost,
    entities: {
      exchanges: [...plans, ...declared].flatMap(({ exchanges }) => exchanges),
      queues: [...plans, ...declared].flatMap(({ queues }) => queues),
    },
    errorQueues: errorQueuesOf(plan),
    policies: [
      ...own,
      ...shapes.flatMap((network) => networkLimitPolicies(network, { brokerVersion })),
      ...deliveryLimitPolicies(
        others.flatMap(({ entities }) => entities.queues),
        { brokerVersion },
        own,
      ),
      ...created.flatMap(ofEndpoint),
    ],
    claims: [
      ...config.endpoints.flatMap((endpoint) => planEndpointOwnership(endpoint, owner)),
      ...returnQueues.map((name) => planOwnership("endpoint", name, owner)),
      ...users.map((user) => planOwnership("user", user, owner)),
    ],
    formerOwners: config.formerOwners,
    makesUsers: users.length > 0,
    users,
    // One that may not be taken over has to be told from one that may, and both are asked about at once.
    adopt: processes.every((process) => process?.user === undefined || process.adopt === true),
    adopted: [
      ...networks
        .filter(({ options }) => options.adopt === true)
        .map(({ network }) => adoptedNetwork(network, ofNetwork(network))),
      ...created
        .filter(({ endpoint }) => endpoint.adopt === true)
        .map((one) => adoptedEndpoint(one.endpoint, one.entities, ofEndpoint(one), errorsOf(one.endpoint))),
      ...config.workQueues.flatMap(({ queue, adopt }) => {
        const descriptor = retries.find((one) => one.kind === "work-retry" && one.name === queue) as
          WorkRetry | undefined;
        if (adopt !== true || descriptor === undefined) return [];
        const work = planRetry(descriptor);
        return [adoptedWorkQueue(descriptor, work, deliveryLimitPolicies(work.queues, { brokerVersion }, own))];
      }),
    ],
    bindings: [...declared, ...bound].flatMap(({ bindings }) => bindings),
    delayedExchanges: plan.exchanges,
    needs: retries.flatMap(versionNeed),
    minimumNodes: config.production && !config.allow.includes("single-node") ? PRODUCTION_NODES : undefined,
    replaceable: config.removal === "delete",
    groups: plans,
    declarers: [
      ...created.map(({ endpoint }) => [endpoint.name, "EndpointDelayBinding"] as const),
      ...config.workQueues.map(({ queue }) => [queue, "WorkRetryQueues"] as const),
      ...config.delayedRetryQueues.map(({ queue }) => [queue, "DelayedRetryQueue"] as const),
      ...config.errorQueues.map((name) => [name, "ErrorQueues"] as const),
      ...config.endpoints
        .map((endpoint) => ownErrorQueue(endpoint, config.errorQueues))
        .filter((name) => name !== undefined)
        .map((name) => [name, "EndpointDelayBinding"] as const),
    ],
    createsVhost: config.createVhost,
    allowedFaults: config.allow,
  };
}

function versionNeed(descriptor: RetryDescriptor): VersionNeed[] {
  if (descriptor.kind !== "delayed-retry") return [];
  return [{ version: delayedRetryVersion(descriptor), reason: `the delayed retry of queue ${descriptor.queue}` }];
}
