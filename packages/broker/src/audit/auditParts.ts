import {
  DelayGateway,
  DelayNetwork,
  DelayedExchange,
  DelayedStore,
  PolicyPlan,
  RetryDescriptor,
  foreignBindings,
  parkingPolicy,
  planDelayGateway,
  planDelayedExchange,
  planDelayedStore,
  planEntities,
  planErrorQueue,
  planRetry,
  planReturnBinding,
} from "@rabbitmq-delay/topology";
import {
  AuditFinding,
  deliveryLimitPolicies,
  endpointLimitPolicies,
  networkLimitPolicies,
} from "@rabbitmq-delay/topology/stack";
import { PlannedPart, auditPart, auditShortcuts, isPartThere } from "./auditPlan";
import { otherNetworks } from "./brokerFindings";
import type { Checked } from "./checked";
import type { Found } from "./readVhost";

/** Compares everything that is planned with what the broker has, and the other networks of the vhost with what their names tell. */
export function auditParts(checked: Checked, found: Found): AuditFinding[] {
  const { networks, created = [], retries, exchanges = [], store, gateway, errorQueues = [] } = checked;
  const own = networks.map(({ network }) => network);
  const isAdopting = networks.some(({ isAdopted }) => isAdopted);
  return [
    ...networks.flatMap(({ network, isAdopted }) => auditNetworkPart(network, found, isAdopted)),
    ...otherNetworks(own, found).flatMap((other) => auditOther(other, found)),
    // An endpoint of which nothing is there is told of where its bindings are compared.
    ...created
      .map((one) => createdPart(one, found))
      .filter((part) => isPartThere(part, found))
      .flatMap((part) => auditPart(part, found)),
    ...[
      ...retries.map((descriptor) => retryPart(descriptor, checked, found)),
      ...exchanges.map((descriptor) => exchangePart(descriptor, found)),
      ...(store === undefined ? [] : [storePart(store, found)]),
      ...(gateway === undefined ? [] : [gatewayPart(gateway, found)]),
      ...errorQueues.map((name) => errorPart(name, found, isAdopting)),
    ].flatMap((part) => (isPartThere(part, found) ? auditPart(part, found) : [findAbsent(part)])),
    ...exchanges.flatMap((descriptor) => [...auditStrangers(descriptor, found), ...auditOthers(descriptor, found)]),
  ];
}

function auditNetworkPart(network: DelayNetwork, found: Found, isAdopted = false): AuditFinding[] {
  const { deliveryExchange, prefix } = network;
  const entities = planEntities(network);
  const limits = networkLimitPolicies(network, { brokerVersion: found.version });
  const parking = parkingPolicy(network);
  const part = {
    subject: `network ${prefix}`,
    entities,
    policies: parking === undefined ? limits : [parking, ...limits],
    ...(isAdopted
      ? { additions: [network.parkingExchange, network.parkingQueue].filter((name) => name !== undefined) }
      : {}),
  };
  if (isPartThere(part, found))
    return [...auditPart(part, found), ...auditShortcuts(network, entities, found.bindings)];
  const message = `there is no exchange ${deliveryExchange} on the broker yet`;
  return [{ rule: "missing-network", severity: "warning", subject: part.subject, message }];
}

/**
 * Compares a network of which only the delivery exchange's name is known. Whether it parks, and for a vendor's network the type of its
 * queues, is taken from what exists. A network of which only that exchange is left takes no messages in.
 */
function auditOther(named: DelayNetwork, found: Found): AuditFinding[] {
  const there = new Set(found.exchanges.map(({ name }) => name));
  if (!named.entryExchanges.some((name) => there.has(name))) return [];
  const isParking = named.parkingExchange !== undefined && there.has(named.parkingExchange);
  const network: DelayNetwork = isParking ? named : { ...named, parkingExchange: undefined, parkingQueue: undefined };
  const levels = new Set(planEntities(network).queues.map(({ name }) => name));
  const isClassic =
    network.preset === "celery" &&
    found.queues.some(({ name, arguments: values }) => levels.has(name) && values["x-queue-type"] === "classic");
  const typed: DelayNetwork = isClassic ? { ...network, queueType: "classic" } : network;
  const entities = planEntities(typed);
  const parking = parkingPolicy(typed);
  const part = { subject: `network ${typed.prefix}`, entities, policies: parking === undefined ? [] : [parking] };
  return [...auditPart(part, found), ...auditShortcuts(typed, entities, found.bindings)];
}

function createdPart(created: NonNullable<Checked["created"]>[number], found: Found): PlannedPart {
  const { endpoint, entities, isAdopted } = created;
  const policies = endpointPolicies(created, found);
  const additions = [...entities.exchanges, ...entities.queues].map(({ name }) => name);
  return { subject: `endpoint ${endpoint}`, entities, policies, ...(isAdopted === true ? { additions } : {}) };
}

/** The policies of an endpoint's own queue. */
export function endpointPolicies(
  { entities, preset, queuePolicy }: NonNullable<Checked["created"]>[number],
  { version }: Found,
): PolicyPlan[] {
  return entities.queues.flatMap((queue) =>
    endpointLimitPolicies(queue, preset, { brokerVersion: version, queuePolicy }),
  );
}

function retryPart(descriptor: RetryDescriptor, { endpoints }: Checked, { version }: Found): PlannedPart {
  const { policy, ...entities } = planRetry(descriptor);
  const own = policy === undefined ? [] : [policy];
  const limits = deliveryLimitPolicies(entities.queues, { brokerVersion: version }, own);
  const part = { subject: subjectOf(descriptor), entities, policies: [...own, ...limits] };
  if (descriptor.kind === "work-retry") return { ...part, shared: [descriptor.name] };
  if (descriptor.kind !== "retry-intervals") return part;
  const { returnExchange, parkingExchange = "", parkingQueue = "" } = descriptor;
  const returns = endpoints.filter(({ retries }) => retries).map(({ name }) => planReturnBinding(descriptor, name));
  return {
    ...part,
    entities: { ...entities, bindings: [...entities.bindings, ...returns] },
    shared: [returnExchange, parkingExchange, parkingQueue],
  };
}

function subjectOf(descriptor: RetryDescriptor): string {
  switch (descriptor.kind) {
    case "retry-intervals":
      return `retry intervals ${descriptor.prefix}`;
    case "work-retry":
      return `retries of queue ${descriptor.name}`;
    case "hold-queues":
      return `hold queues ${descriptor.prefix}`;
    case "delayed-retry":
      return `delayed retry of queue ${descriptor.queue}`;
  }
}

function exchangePart(descriptor: DelayedExchange, { version }: Found): PlannedPart {
  const { policies, ...entities } = planDelayedExchange(descriptor);
  return {
    subject: `delayed exchange ${descriptor.exchange}`,
    entities,
    policies: [...policies, ...deliveryLimitPolicies(entities.queues, { brokerVersion: version }, policies)],
    // A service may have declared it first.
    shared: [descriptor.delivery],
  };
}

function auditStrangers(descriptor: DelayedExchange, found: Found): AuditFinding[] {
  return foreignBindings(descriptor, found.bindings).map(({ binding, harm }) => ({
    rule: "shortcut",
    severity: "error",
    subject: `delayed exchange ${descriptor.exchange}`,
    message:
      `${binding.destinationType} ${binding.destination} is bound to exchange ${binding.source} by ` +
      `${JSON.stringify(binding.routingKey)}: it ${harm}`,
  }));
}

/** Exchanges of others to which a delayed exchange leads, and which are gone: the broker has deleted the bindings to them with them. */
function auditOthers(
  { exchange, delivery, type, otherwise, parkingQueue }: DelayedExchange,
  found: Found,
): AuditFinding[] {
  const there = new Set(found.exchanges.map(({ name }) => name));
  // What is not on the broker at all is told once.
  if (!there.has(exchange)) return [];
  const needed = [
    ...(type === undefined
      ? [{ name: delivery, harm: "messages whose time is over wait, or are dropped by classic queues" }]
      : []),
    ...(otherwise === undefined
      ? []
      : [{ name: otherwise, harm: `messages with another delay, or none, are parked in ${parkingQueue}` }]),
  ];
  return needed
    .filter(({ name }) => !there.has(name))
    .map(({ name, harm }) => ({
      rule: "missing-part",
      severity: "error",
      subject: `delayed exchange ${exchange}`,
      message: `exchange ${name}, to which it leads, is not on the broker: ${harm}; declare it again, and run pulumi up --refresh`,
    }));
}

function storePart(store: DelayedStore, { version }: Found): PlannedPart {
  const entities = planDelayedStore(store);
  return {
    subject: `store ${store.name}`,
    entities,
    policies: deliveryLimitPolicies(entities.queues, { brokerVersion: version }),
    // The exchange to which due messages are published may be the service's own.
    shared: store.forwards.map(({ delivery }) => delivery),
  };
}

function gatewayPart(gateway: DelayGateway, { version }: Found): PlannedPart {
  const entities = planDelayGateway(gateway);
  return {
    subject: `gateway ${gateway.name}`,
    entities,
    policies: deliveryLimitPolicies(entities.queues, { brokerVersion: version }),
    shared: gateway.forwards.map(({ delivery }) => delivery),
  };
}

/** @param isAdopting whether the stack takes over what is there: then a client may have declared the queue before its first update */
function errorPart(name: string, { version }: Found, isAdopting: boolean): PlannedPart {
  const entities = planErrorQueue(name);
  const policies = deliveryLimitPolicies(entities.queues, { brokerVersion: version });
  return { subject: `error queue ${name}`, entities, policies, ...(isAdopting ? { additions: [name] } : {}) };
}

function findAbsent({ subject }: PlannedPart): AuditFinding {
  return { rule: "missing-queues", severity: "warning", subject, message: "none of its queues is on the broker yet" };
}
