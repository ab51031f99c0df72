import type { EntityPlan } from "../entities";
import { DelayTopologyError, checkOneOf } from "../errors";
import { checkEndpointName, checkEntityName } from "../names";
import { QueueType, queueTypes } from "./delayNetwork";

/** Vendors' clients that consume endpoints, and that expect their queues and exchanges as they would declare them themselves. */
export const endpointClients = ["nservicebus", "masstransit", "celery"] as const;

export type EndpointClient = (typeof endpointClients)[number];

/** NServiceBus's ways to route: by a fanout exchange in front of each queue (`conventional`), or to the queues themselves (`direct`). */
export const routingTopologies = ["conventional", "direct"] as const;

export type RoutingTopology = (typeof routingTopologies)[number];

/** What an endpoint has on the broker that its stack declares. */
export interface OwnEndpoint {
  name: string;
  /** `queue` (default) or `exchange`; a client decides it. */
  type?: "queue" | "exchange";
  patterns?: string[];
  /** Whether the queue is declared; a client's always is. */
  createQueue?: boolean;
  /** Default `quorum`. */
  queueType?: QueueType;
  /** Further arguments of the queue. */
  queueArguments?: Record<string, unknown>;
  /** Whose client consumes it; default: none that expects anything. */
  client?: EndpointClient;
  /** Further keys of the policy of the declared queue. */
  queuePolicy?: Record<string, unknown>;
  /** Of `nservicebus`, default `conventional`. */
  routingTopology?: RoutingTopology;
}

/**
 * Plans the queue of an endpoint, and what its client would declare with it, byte for byte: a fanout exchange of the same name, bound to the
 * queue; for MassTransit also the exchange of a message type, which is an endpoint of type `exchange`; for Celery a topic exchange, bound
 * by the name and by `#.` and the name. Sources: NServiceBus.RabbitMQ's ConventionalRoutingTopology and DirectRoutingTopology, kombu's
 * native_delayed_delivery, and what NServiceBus's installers, MassTransit 8 and a worker of Celery 5.7 were seen to send.
 * @returns undefined for an endpoint whose queue or exchange is there already
 * @throws DelayTopologyError naming the property, for a value that is not allowed or that the client decides
 */
export function planOwnEntities(endpoint: OwnEndpoint): EntityPlan | undefined {
  const { name, createQueue = false, queueType, queueArguments, queuePolicy, type } = endpoint;
  if (queueType !== undefined) checkOneOf("queueType", queueType, queueTypes);
  if (isClients(endpoint)) return planForClient(endpoint);
  if (createQueue && type === "exchange") {
    throw new DelayTopologyError("createQueue", createQueue, "it is for a queue with the endpoint's own name");
  }
  if (!createQueue && (queueType !== undefined || queueArguments !== undefined)) {
    throw new DelayTopologyError("queueType", queueType, "queueType and queueArguments go with createQueue: true");
  }
  if (queueArguments !== undefined && "x-queue-type" in queueArguments) {
    throw new DelayTopologyError("queueArguments", queueArguments, "give the type as queueType");
  }
  if (!createQueue && queuePolicy !== undefined)
    throw new DelayTopologyError("queuePolicy", queuePolicy, "it goes with createQueue: true, or with client");
  if (!createQueue) return undefined;
  const values = { ...queueArguments, "x-queue-type": queueType ?? "quorum" };
  return {
    exchanges: [],
    queues: [{ name, durable: true, arguments: values as Record<string, string> }],
    bindings: [],
  };
}

/** Whether a network is bound to the endpoint's queue or to its exchange. */
export function boundType({ type, client, routingTopology = "conventional" }: OwnEndpoint): "queue" | "exchange" {
  if (client === "celery") return "exchange";
  if (client !== "nservicebus") return type ?? "queue";
  return routingTopology === "conventional" ? "exchange" : "queue";
}

/** @throws DelayTopologyError for a client that is none, and for a routing topology without one */
function isClients({ client, routingTopology }: OwnEndpoint): boolean {
  if (client !== undefined) checkOneOf("client", client, endpointClients);
  if (routingTopology !== undefined) checkOneOf("routingTopology", routingTopology, routingTopologies);
  if (routingTopology === undefined || client === "nservicebus") return client !== undefined;
  throw new DelayTopologyError("routingTopology", routingTopology, "it goes with client: nservicebus");
}

function planForClient(endpoint: OwnEndpoint): EntityPlan {
  const { name, createQueue, routingTopology, type, client } = endpoint;
  checkEntityName("endpoint.name", name);
  const decided = (["patterns", "queueArguments", ...(client === "masstransit" ? [] : ["type"])] as const).find(
    (property) => endpoint[property as keyof OwnEndpoint] !== undefined,
  );
  if (decided !== undefined) {
    const value = endpoint[decided as keyof OwnEndpoint];
    throw new DelayTopologyError(decided, value, `client: ${client} decides it; leave it out`);
  }
  if (createQueue === false) {
    throw new DelayTopologyError(
      "createQueue",
      createQueue,
      `with client: ${client} the queue is declared; leave it out`,
    );
  }
  if (client === "masstransit" && type === "exchange") return planMessageType(endpoint);
  if (client === "celery") return planTaskQueue(endpoint);
  const queues = [{ name, durable: true as const, arguments: argumentsOf(endpoint) }];
  if (routingTopology === "direct") return { exchanges: [], queues, bindings: [] };
  return {
    exchanges: [{ name, type: "fanout", durable: true }],
    queues,
    bindings: [{ source: name, destination: name, destinationType: "queue", routingKey: "" }],
  };
}

/**
 * What a worker declares for a queue with an exchange of its own name, of type topic. What is sent at once comes by the name, and what comes
 * out of a delay network has its digits before the name.
 */
function planTaskQueue(endpoint: OwnEndpoint): EntityPlan {
  const name = checkEndpointName("endpoint.name", endpoint.name);
  return {
    exchanges: [{ name, type: "topic", durable: true }],
    queues: [{ name, durable: true, arguments: argumentsOf(endpoint) }],
    bindings: [name, `#.${name}`].map((routingKey) => ({
      source: name,
      destination: name,
      destinationType: "queue",
      routingKey,
    })),
  };
}

/** MassTransit publishes a message to an exchange that is named for its type; consumers bind their own exchanges to it. */
function planMessageType({ name, createQueue, queueType }: OwnEndpoint): EntityPlan {
  const given = createQueue !== undefined ? "createQueue" : "queueType";
  if (createQueue !== undefined || queueType !== undefined) {
    throw new DelayTopologyError(
      given,
      createQueue ?? queueType,
      "the exchange of a message type has no queue; leave it out",
    );
  }
  return { exchanges: [{ name, type: "fanout", durable: true }], queues: [], bindings: [] };
}

/** The arguments with which the client declares its queue: none for a classic one. */
function argumentsOf({ client, queueType }: OwnEndpoint): Record<string, string> {
  if (client === "masstransit" && queueType === undefined) {
    const allowed =
      "client: masstransit declares classic queues, or quorum queues after SetQuorumQueue(); give the one of the service";
    throw new DelayTopologyError("queueType", queueType, allowed);
  }
  return queueType === "classic" ? {} : { "x-queue-type": "quorum" };
}

/**
 * Checks that a client's endpoint joins a network that the client sends to.
 * @throws DelayTopologyError naming the client
 */
export function checkClientNetwork({ client }: Pick<OwnEndpoint, "client">, preset: string): void {
  if (client === undefined || sendsTo(client, preset)) return;
  const vendors =
    client === "celery"
      ? "Celery delays by networks of the preset celery"
      : "NServiceBus delays by networks of the presets nservicebus and nservicebus-v1";
  throw new DelayTopologyError("client", client, `${vendors}, and this one is ${preset}`);
}

/** Whether a client sends to networks of a preset; MassTransit's add-in sends to any. */
export function sendsTo(client: EndpointClient, preset: string): boolean {
  if (client === "nservicebus") return preset === "nservicebus" || preset === "nservicebus-v1";
  return client === "masstransit" || preset === "celery";
}
