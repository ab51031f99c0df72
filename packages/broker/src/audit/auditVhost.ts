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
import { AuditFinding, auditBroker, judgePolicies, planGatewayQueues } from "@rabbitmq-delay/topology/stack";
import { auditCollisions } from "./bindingCollisions";
import { auditDelayQueues } from "./delayQueueFindings";
import { auditLeftovers, auditUncounted, otherNetworks } from "./brokerFindings";
import { auditEnforced, auditUnclaimed, auditUnfinished } from "./enforcedFindings";
import { auditStalled } from "./stalledLevels";
import { describeFault, faultsOf } from "../brokerFaults";
import type { Checked } from "./checked";
import type { Found } from "./readVhost";
import { auditParts } from "./auditParts";

/** Finds what in a vhost would misroute, lose or hold back messages, both for the checked topology and for everything else in the vhost. */
export function auditVhost(checked: Checked, found: Found): AuditFinding[] {
  const { networks, endpoints, exchanges = [], allow = [] } = checked;
  const own = networks.map(({ network }) => network);
  return [
    ...networks.flatMap(({ network, endpoints: joining }) => auditNetworkOn(network, joining, found, own.length > 1)),
    ...auditParts(checked, found),
    ...auditPolicies(checked, found),
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
  isOneOfSeveral: boolean,
): AuditFinding[] {
  const bindings = found.bindings.filter(({ source }) => source === network.bindingExchange);
  return auditBroker(network, endpoints, { ...found, bindings }, isOneOfSeveral);
}

/** Checks other people's policies, for what is declared here and for each network in the vhost. */
function auditPolicies(
  { networks: own, endpoints, retries, exchanges: delayed = [], store, gateway, errorQueues = [] }: Checked,
  found: Found,
): AuditFinding[] {
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
  ].filter((policy): policy is PolicyPlan => policy !== undefined);
  const planned = plans.flatMap(({ queues }) => queues);
  const endpointQueues = endpoints.filter(({ type = "queue" }) => type === "queue").map(({ name }) => name);
  const isPlanned = new Set(planned.map(({ name }) => name));
  const declared = found.queues
    .filter(({ name }) => endpointQueues.includes(name) && !isPlanned.has(name))
    .map(({ name, arguments: values }) => ({ name, arguments: values as Record<string, string | number> }));
  const exchanges = plans.flatMap((plan) => plan.exchanges);
  const subject = { exchanges, queues: [...planned, ...declared], policies, endpointQueues };
  return judgePolicies(subject, found.policies).map(({ severity, policy, message }) => ({
    rule: "policy",
    severity,
    subject: `policy ${policy}`,
    message,
  }));
}

function errorQueuesOf({ retries, store, gateway, errorQueues = [] }: Checked): string[] {
  const dead = retries.flatMap((retry) =>
    "deadQueue" in retry && retry.deadQueue !== undefined ? [retry.deadQueue] : [],
  );
  // What is audited has not failed.
  const shared = errorQueues.filter((name) => !/audit/i.test(name));
  const intakes = [store, gateway].filter((intake) => intake !== undefined);
  return [...dead, ...shared, ...intakes.map(({ errorQueue }) => errorQueue)];
}
