import { DelayTopologyError, QueuePlan, QueueType, planErrorQueue } from "@rabbitmq-delay/topology";
import {
  EndpointClient,
  RoutingTopology,
  checkEntityName,
  compareExchange,
  compareQueue,
  compareUntyped,
  planOwnEntities,
} from "@rabbitmq-delay/topology/stack";
import type { LiveVhost } from "./liveVhost";
import { Unplaced, differs } from "./remark";

const ALTERNATE = "alternate-exchange";

/** Whose client has declared an endpoint, as the config says it. */
export interface FoundClient {
  client?: EndpointClient;
  routingTopology?: RoutingTopology;
  queueType?: QueueType;
  queuePolicy?: Record<string, string | number>;
}

/**
 * The client whose declaration of an endpoint is what the broker has.
 * @param preset the network's
 * @param type what of the endpoint the network is bound to
 */
export function clientOf(
  name: string,
  preset: string,
  type: "queue" | "exchange",
  live: LiveVhost,
): { found: FoundClient; remarks: Unplaced[] } {
  const none = { found: {}, remarks: [] };
  const [exchange, queue] = [live.exchanges.get(name), live.queues.get(name)];
  if (isDirect(name, preset, type, live))
    return { found: { client: "nservicebus", routingTopology: "direct" }, remarks: [] };
  if (exchange === undefined || queue === undefined) return none;
  const vendor: keyof typeof VENDORS | undefined = preset.startsWith("nservicebus")
    ? "nservicebus"
    : preset === "celery"
      ? "celery"
      : undefined;
  if (vendor !== undefined && type === "exchange") {
    const tries = (["quorum", "classic"] as const).map((queueType) => ({
      found: { client: vendor, ...(queueType === "classic" ? { queueType } : {}) },
      differences: differencesOf(name, vendor, queueType, live),
    }));
    const same = tries.find(({ differences }) => differences.length === 0);
    if (same !== undefined) return { found: same.found, remarks: [] };
    const { declares, exchangeType } = VENDORS[vendor];
    const differences = (tries[0] as (typeof tries)[0]).differences.join("; ");
    const message = `it is not as ${declares}, so it has no client here: ${differences}`;
    return { found: {}, remarks: exchange.type === exchangeType ? [differs(message)] : [] };
  }
  if (preset !== "custom" || type !== "queue" || !getsMessageTypes(name, live)) return none;
  const queueType = (["quorum", "classic"] as const).find(
    (one) => differencesOf(name, "masstransit", one, live).length === 0,
  );
  return queueType === undefined ? none : { found: { client: "masstransit", queueType }, remarks: [] };
}

/**
 * Whether NServiceBus's direct topology has declared a queue. Only its policy tells: the client sets one for each endpoint on RabbitMQ 4, and
 * any client may bind a queue by suffix.
 */
function isDirect(name: string, preset: string, type: "queue" | "exchange", live: LiveVhost): boolean {
  if (!preset.startsWith("nservicebus") || type !== "queue" || live.exchanges.has(name)) return false;
  const [plan] = planErrorQueue(name).queues;
  const isDeclared = compareQueue(plan as QueuePlan, live.queues.get(name), live.content.defaultQueueType).length === 0;
  return isDeclared && live.content.policies.some((policy) => policy.name === `nsb.${name}.delivery-limit`);
}

/**
 * Error and audit queues of NServiceBus, which no endpoint consumes: a queue and a fanout exchange of one name (in the direct topology, the
 * queue alone, by the names that the vendor's samples have), and no policy of the client's. Parking queues and dead queues look the same, but
 * exchanges or queues lead to them.
 */
export function errorQueuesOf(
  endpoints: readonly FoundClient[],
  names: ReadonlySet<string>,
  live: LiveVhost,
): string[] {
  const isOf = (topology: RoutingTopology): boolean =>
    endpoints.some(
      ({ client, routingTopology = "conventional" }) => client === "nservicebus" && routingTopology === topology,
    );
  const { exchanges, queues, policies } = live.content;
  const targets = new Set([
    ...[...exchanges, ...queues].flatMap((one) => [one.arguments[ALTERNATE], one.arguments["x-dead-letter-exchange"]]),
    ...policies.map(({ definition }) => definition[ALTERNATE]),
  ]);
  return [...live.queues.keys()].sort().filter((name) => {
    if (
      names.has(name) ||
      targets.has(name) ||
      !isDeclarable(name) ||
      policies.some((policy) => policy.name === `nsb.${name}.delivery-limit`)
    )
      return false;
    if (isOf("conventional") && differencesOf(name, "nservicebus", "quorum", live).length === 0) return true;
    const [plan] = planErrorQueue(name).queues;
    const isPlain = compareQueue(plan as QueuePlan, live.queues.get(name), live.content.defaultQueueType).length === 0;
    return isOf("direct") && ["error", "audit"].includes(name) && isPlain && !live.exchanges.has(name);
  });
}

/** Whether a stack can declare an entity of that name. */
function isDeclarable(name: string): boolean {
  try {
    checkEntityName("name", name);
    return true;
  } catch (error) {
    if (!(error instanceof DelayTopologyError)) throw error;
    return false;
  }
}

/** How vendors declare an endpoint, and by which exchange it may be theirs at all. */
const VENDORS = {
  nservicebus: { declares: "NServiceBus declares it in its conventional topology", exchangeType: "fanout" },
  celery: { declares: "a Celery worker declares it, behind a topic exchange of its name", exchangeType: "topic" },
} as const;

/** How an endpoint differs from what its client would declare. */
function differencesOf(name: string, client: EndpointClient, queueType: QueueType, live: LiveVhost): string[] {
  const plan = planOwnEntities({ name, client, queueType });
  if (plan === undefined) return [];
  return [
    ...plan.exchanges.flatMap((one) => compareExchange(one, live.exchanges.get(one.name))),
    ...plan.queues.flatMap((one) => compareQueue(one, live.queues.get(one.name), live.content.defaultQueueType)),
    ...plan.queues.flatMap((one) => compareUntyped(one, live.queues.get(one.name), live.content.defaultQueueType)),
    ...plan.bindings
      .filter((binding) => !live.has(binding))
      .map(({ source, destination }) => `exchange ${source} does not lead to queue ${destination}`),
  ];
}

/**
 * Only MassTransit's consumers have exchanges of message types (`Namespace:Type`) before the exchange of their queue, where NServiceBus does
 * not delay.
 */
function getsMessageTypes(name: string, live: LiveVhost): boolean {
  return live.content.bindings.some(
    ({ source, destination, destinationType }) =>
      destination === name && destinationType === "exchange" && /^[^:]+:[^:]/.test(source),
  );
}
