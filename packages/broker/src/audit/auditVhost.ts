import {
  DelayNetwork,
  EntityPlan,
  PolicyPlan,
  parkingPolicy,
  planDelayedExchange,
  planDelayedStore,
  planEntities,
  planErrorQueue,
  planRetry,
} from "@rabbitmq-delay/topology";
import {
  AuditFinding,
  auditBroker,
  deadQueuesOf,
  deliveryLimitPolicies,
  judgePolicies,
  networkLimitPolicies,
  planGatewayQueues,
} from "@rabbitmq-delay/topology/stack";
import { auditCollisions } from "./bindingCollisions";
import { auditUnlimited } from "./deliveryLimits";
import { auditDelayQueues } from "./delayQueueFindings";
import { auditLeftovers, auditUncounted, otherNetworks } from "./brokerFindings";
import { auditEnforced, auditUnclaimed, auditUnfinished } from "./enforcedFindings";
import { auditStalled } from "./stalledLevels";
import { describeFault, faultsOf } from "../brokerFaults";
import { auditMessageTypes } from "./messageTypeFindings";
import type { Checked } from "./checked";
import type { Found } from "./readVhost";
import { refusingQueues } from "../refusingQueues";
import { auditParts, endpointPolicies } from "./auditParts";

/** Finds what in a vhost would misroute, lose or hold back messages, both for the checked topology and for everything else in the vhost. */
export function auditVhost(checked: Checked, found: Found): AuditFinding[] {
  const { networks, endpoints, exchanges = [], allow = [] } = checked;
  const own = networks.map(({ network }) => network);
  return [
    ...networks.flatMap(({ network, endpoints: joining }) =>
      auditNetworkOn(network, joining, found, { isOneOfSeveral: own.length > 1, allow }),
    ),
    ...auditParts(checked, found),
    ...auditPolicies(checked, found),
    ...auditUnlimited(
      found,
      endpoints.map(({ name }) => name),
    ),
    ...auditRefusing(checked, found),
    ...auditUncounted(found),
    ...auditStalled(found, found.looks, found.version),
    ...auditCollisions(
      found,
      endpoints.flatMap(({ name, patterns = [name] }) => patterns),
      allow,
    ),
    ...auditUnfinished(found),
    ...auditEnforced(found),
    ...auditUnclaimed(
      found,
      endpoints.map(({ name }) => name),
    ),
    ...auditMessageTypes(found),
    ...auditDelayQueues(found),
    ...auditLeftovers(
      found,
      own,
      errorQueuesOf(checked),
      exchanges.map(({ parkingQueue }) => parkingQueue),
    ),
    ...faultsOf(found.version, allow).map((fault): AuditFinding => ({
      rule: "broker-fault",
      severity: "warning",
      subject: fault.id,
      message: describeFault(found.version, fault),
    })),
  ];
}

function auditNetworkOn(
  network: DelayNetwork,
  endpoints: Checked["endpoints"],
  found: Found,
  { isOneOfSeveral, allow }: { isOneOfSeveral: boolean; allow: readonly string[] },
): AuditFinding[] {
  const bindings = found.bindings.filter(({ source }) => source === network.bindingExchange);
  return auditBroker(network, endpoints, { ...found, bindings }, isOneOfSeveral, allow);
}

/** Finds full queues that would hold up the messages of others. */
function auditRefusing({ networks, exchanges = [] }: Checked, found: Found): AuditFinding[] {
  const own = networks.map(({ network }) => network);
  const deliveries = [...own, ...otherNetworks(own, found)].flatMap(({ deliveryExchange, bindingExchange }) => [
    deliveryExchange,
    bindingExchange,
  ]);
  const all = new Set([...deliveries, ...exchanges.map(({ delivery }) => delivery)]);
  return [...refusingQueues(all, found.bindings, found.queues)].map(([name, message]) => ({
    rule: "refusing",
    severity: "warning",
    subject: `queue ${name}`,
    message,
  }));
}

/** Policies that the first update of a stack that adopts a network sets, and that push others off. */
function limitsOf(networks: readonly DelayNetwork[], errorQueues: readonly string[], { version }: Found): PolicyPlan[] {
  const options = { brokerVersion: version };
  return [
    ...networks.flatMap((network) => networkLimitPolicies(network, options)),
    ...deliveryLimitPolicies(
      errorQueues.flatMap((name) => planErrorQueue(name).queues),
      options,
    ),
  ];
}

/** Checks other people's policies, for what is declared here and for each network in the vhost. */
function auditPolicies(checked: Checked, found: Found): AuditFinding[] {
  const {
    networks: own,
    endpoints,
    retries,
    exchanges: delayed = [],
    store,
    gateway,
    errorQueues = [],
    created = [],
  } = checked;
  const names = new Set(found.policies.filter(({ isOperator }) => !isOperator).map(({ name }) => name));
  const ownNetworks = own.map(({ network }) => network);
  const networks = [...ownNetworks, ...otherNetworks(ownNetworks, found)];
  const parking = ownNetworks.map(({ parkingExchange }) => parkingExchange);
  const retryPlans = retries.map(planRetry);
  const delayedPlans = delayed.map(planDelayedExchange);
  const plans: EntityPlan[] = [
    ...networks.map(planEntities),
    ...retryPlans,
    ...delayedPlans,
    ...(store === undefined ? [] : [planDelayedStore(store)]),
    ...(gateway === undefined ? [] : [planGatewayQueues(gateway)]),
    ...errorQueues.map((name) => planErrorQueue(name)),
  ];
  const policies = [
    // What another stack declares for its network is only known from what exists.
    ...networks
      .map(parkingPolicy)
      .filter((policy) => policy !== undefined && (names.has(policy.name) || parking.includes(policy.name))),
    ...retryPlans.map(({ policy }) => policy),
    ...delayedPlans.flatMap((plan) => plan.policies),
    ...created
      .filter(({ queuePolicy }) => queuePolicy !== undefined)
      .flatMap((endpoint) => endpointPolicies(endpoint, found)),
    ...(own.some(({ isAdopted }) => isAdopted) ? limitsOf(ownNetworks, errorQueues, found) : []).filter(
      ({ name }) => !names.has(name),
    ),
  ].filter((policy): policy is PolicyPlan => policy !== undefined);
  const planned = plans.flatMap(({ queues }) => queues);
  const endpointQueues = endpoints.filter(({ type = "queue" }) => type === "queue").map(({ name }) => name);
  const isPlanned = new Set(planned.map(({ name }) => name));
  const declared = found.queues
    .filter(({ name }) => endpointQueues.includes(name) && !isPlanned.has(name))
    .map(({ name, arguments: values }) => ({ name, arguments: values as Record<string, string | number> }));
  const exchanges = plans.flatMap((plan) => plan.exchanges);
  const subject = {
    exchanges,
    queues: [...planned, ...declared],
    policies,
    endpointQueues,
    errorQueues: [...errorQueues, ...deadQueuesOf(checked)],
  };
  return judgePolicies(subject, found.policies).map(({ severity, policy, message }) => ({
    rule: "policy",
    severity,
    subject: `policy ${policy}`,
    message,
  }));
}

function errorQueuesOf(checked: Checked): string[] {
  // What is audited has not failed.
  const shared = (checked.errorQueues ?? []).filter((name) => !/audit/i.test(name));
  return [...deadQueuesOf(checked), ...shared];
}
