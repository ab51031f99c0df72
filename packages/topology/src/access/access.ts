import { escapeRegex } from "../entities";
import { DelayTopologyError, checkOneOf } from "../errors";
import { checkEntityName } from "../names";
import {
  EndpointClient,
  RoutingTopology,
  checkClientNetwork,
  endpointClients,
  routingTopologies,
} from "../network/clientEndpoint";
import type { DelayNetwork } from "../network/delayNetwork";
import { intervalName } from "../retry/retryIntervals";
import { RetryDescriptor, planRetry } from "../retry/retryDescriptor";

/** What a service does on the broker. */
export interface AccessOptions {
  /** Queues that it consumes, its error queues too if it reads them. */
  consumes?: string[];
  /** The network that it publishes delayed messages into. */
  network?: DelayNetwork;
  /** Endpoints that it may send delayed messages to, beside its own queues. Default: any of the network. */
  destinations?: string[];
  /** What its failed messages come back by; hold queues need the default exchange and are refused. */
  retries?: RetryDescriptor[];
  /** Further exchanges that it publishes to. */
  publishes?: string[];
  /** Its error queue, where that is behind an exchange of the same name; see `planErrorQueue`. */
  errorQueue?: string;
  /** Whose client it uses, which asks the broker for more than publishing and consuming. Default: none of those. */
  client?: EndpointClient;
  /** With a client: the exchanges of the message types, or events, that it publishes or subscribes to. */
  messageTypes?: string[];
  /** Of `nservicebus`, default `conventional`. */
  routingTopology?: RoutingTopology;
}

/** Permissions in the broker's own words: regular expressions over names. */
export interface AccessPlan {
  configure: string;
  write: string;
  read: string;
  /** Which routing keys it may publish with, at topic exchanges; others are not limited. */
  topics: { exchange: string; write: string; read: string }[];
  /** Tags of the user. */
  tags: string[];
}

/** The broker's name for the default exchange in permissions. */
export const DEFAULT_EXCHANGE = "amq.default";

/**
 * The exchange that NServiceBus's direct topology publishes its events to, unless it is given another one; it is the broker's own, which nobody
 * declares (read in its source: DirectRoutingTopology).
 */
const DIRECT_EVENTS = "amq.topic";

/**
 * Exchanges of the base types of each event, which NServiceBus's conventional topology declares, and binds the event's exchange to. Seen with
 * NServiceBus.RabbitMQ 11.2; further base classes and interfaces of an event have exchanges of their names.
 */
export const CONVENTIONAL_BASES: readonly string[] = ["System:Object", "NServiceBus:IEvent", "NServiceBus:IMessage"];

/** Exchange of all faults, to which MassTransit binds those of the message types. Seen with MassTransit 8.4. */
export const ALL_FAULTS = "MassTransit:Fault";

/** Exchange of a message type's faults, by MassTransit's rule for the names of generic types. */
export function faultExchange(messageType: string): string {
  return `${ALL_FAULTS}--${messageType}--`;
}

/** Returns the message type whose faults an exchange takes, or the exchange's own name. */
export function messageTypeOf(exchange: string): string {
  const start = faultExchange("").slice(0, -"--".length);
  return exchange.startsWith(start) ? exchange.slice(start.length, -"--".length) : exchange;
}

/** What matches no name at all. */
const NOTHING = "^$";

/**
 * Plans the least permissions for what a service does: it declares nothing, reads its own queues alone, and publishes into
 * the network's entry exchanges and its own retries. The default exchange reaches every queue, so it is never among them.
 * @throws DelayTopologyError for a name that is none, or retries that can't do without the default exchange
 */
export function planAccess(options: AccessOptions): AccessPlan {
  const { consumes = [], network, destinations, retries = [], publishes = [], errorQueue } = options;
  consumes.forEach((queue, index) => checkEntityName(`consumes[${index}]`, queue));
  publishes.forEach((exchange, index) => checkEntityName(`publishes[${index}]`, exchange));
  const more = clientRights(options);
  const write = [...(more.entries ?? network?.entryExchanges ?? []), ...retries.flatMap(writtenTo), ...publishes];
  if (errorQueue !== undefined) write.push(checkEntityName("errorQueue", errorQueue));
  return {
    configure: oneOfNames(more.configure),
    write: oneOfNames([...write, ...more.write]),
    read: oneOfNames([...consumes, ...more.read]),
    topics: [
      ...(network === undefined || destinations === undefined || more.entries !== undefined
        ? []
        : topicsOf(network, [...consumes, ...destinations])),
      ...more.topics,
    ],
    tags: more.tags,
  };
}

/** What a client does beside publishing and consuming. */
interface ClientRights {
  /** The entry exchanges that it publishes to, whose keys are then limited by `topics`; default: all, limited by the destinations. */
  entries?: string[];
  configure: string[];
  write: string[];
  read: string[];
  topics: AccessPlan["topics"];
  tags: string[];
}

/** @throws DelayTopologyError for a client that is none, and for what it needs and was not given */
function clientRights({ client, messageTypes, ...options }: AccessOptions): ClientRights {
  const { routingTopology } = options;
  if (messageTypes !== undefined && client === undefined) {
    throw new DelayTopologyError("messageTypes", messageTypes, "it goes with client");
  }
  if (routingTopology !== undefined) checkOneOf("routingTopology", routingTopology, routingTopologies);
  if (routingTopology !== undefined && client !== "nservicebus") {
    throw new DelayTopologyError("routingTopology", routingTopology, "it goes with client: nservicebus");
  }
  messageTypes?.forEach((name, index) => {
    if (name === DIRECT_EVENTS && routingTopology === "direct") return;
    checkEntityName(`messageTypes[${index}]`, name);
  });
  if (client === undefined) return { configure: [], write: [], read: [], topics: [], tags: [] };
  checkOneOf("client", client, endpointClients);
  switch (client) {
    case "nservicebus":
      return nserviceBusRights(options, messageTypes);
    case "masstransit":
      return massTransitRights(options, messageTypes);
    case "celery":
      return celeryRights(options, messageTypes);
  }
}

/**
 * NServiceBus asks the management API for the broker and its queues when it starts, and binds a destination's exchange (its queue, in the
 * direct topology, which has the same name) to the delivery exchange before each delayed send: the broker asks for the right to write to
 * the one, and to read from the other. Measured with NServiceBus.RabbitMQ 11.2. In the direct topology it sends by the default exchange. Who
 * publishes or subscribes to an event declares the exchanges of the event and of its base types, and binds them.
 */
function nserviceBusRights(
  { consumes = [], network, destinations, routingTopology }: AccessOptions,
  messageTypes: string[] = [],
): ClientRights {
  if (network === undefined) {
    throw new DelayTopologyError(
      "network",
      network,
      "client: nservicebus binds its destinations to it; give the network",
    );
  }
  checkClientNetwork({ client: "nservicebus" }, network.preset);
  if (destinations === undefined) {
    const allowed =
      "client: nservicebus writes to the exchange of each, so they must be named; [] for its own queues alone";
    throw new DelayTopologyError("destinations", destinations, allowed);
  }
  const isDirect = routingTopology === "direct";
  const events = isDirect || messageTypes.length === 0 ? messageTypes : [...messageTypes, ...CONVENTIONAL_BASES];
  return {
    configure: events.filter((name) => name !== DIRECT_EVENTS),
    write: [...consumes, ...destinations, ...events, ...(isDirect ? [DEFAULT_EXCHANGE] : [])],
    // Who reads from a base type's exchange gets the events of all services.
    read: [network.deliveryExchange, ...messageTypes],
    // Else it could bind its queue by #, and read what is for others.
    topics: [{ exchange: network.deliveryExchange, write: NOTHING, read: boundBy([...consumes, ...destinations]) }],
    tags: ["management"],
  };
}

/**
 * MassTransit declares, when it starts or first sends, each exchange that it sends to and each queue that it consumes, and binds its own
 * exchange to those of its message types; a declare that changes nothing needs the right to configure, too. What fails goes to
 * `QUEUE_error`, and what nobody handles to `QUEUE_skipped`. A message that has used up its tries is published as a fault, to an exchange of
 * its type's name. Seen with MassTransit 8.4.
 */
function massTransitRights({ consumes = [], network }: AccessOptions, messageTypes: string[] = []): ClientRights {
  const own = consumes.flatMap((queue) => [queue, `${queue}_error`, `${queue}_skipped`]);
  own.forEach((name) => checkEntityName("consumes", name));
  const faults = messageTypes.map(faultExchange);
  const bound = [...own, ...messageTypes, ...faults];
  const declared = faults.length === 0 ? bound : [...bound, ALL_FAULTS];
  return {
    configure: [...(network?.entryExchanges ?? []), ...declared],
    write: declared,
    read: bound,
    topics: [],
    tags: [],
  };
}

/**
 * A Celery worker declares the network and its queues whenever it starts, and binds them; a declare or a bind that changes nothing needs its
 * rights, too. A sender declares a destination, by whose name its queue, its exchange and their binding are called, before it sends a task
 * without a delay; tasks with one are published to the longest level. Measured with Celery 5.7.0, whose workers had remote control, gossip,
 * mingle and heartbeats switched off: their exchanges are shared by all workers of a vhost, and let each of them stop the others.
 */
function celeryRights(
  { consumes = [], network, destinations }: AccessOptions,
  messageTypes: string[] | undefined,
): ClientRights {
  if (messageTypes !== undefined) {
    throw new DelayTopologyError("messageTypes", messageTypes, "client: celery has none; leave it out");
  }
  if (network === undefined) {
    throw new DelayTopologyError("network", network, "client: celery sends to it and declares it; give the network");
  }
  checkClientNetwork({ client: "celery" }, network.preset);
  if (destinations === undefined) {
    const allowed = "client: celery declares the queue of each, so they must be named; [] for its own queues alone";
    throw new DelayTopologyError("destinations", destinations, allowed);
  }
  const own = [...new Set([...consumes, ...destinations])];
  own.forEach((name) => checkEntityName("destinations", name));
  const { entryExchanges, deliveryExchange } = network;
  const isWorker = consumes.length > 0;
  const declared = isWorker ? [...entryExchanges, deliveryExchange, ...own] : own;
  const longest = entryExchanges.length - 1;
  const sent = topicsOf(network, own)[longest] as AccessPlan["topics"][number];
  return {
    entries: [entryExchanges[longest] as string],
    configure: declared,
    write: declared,
    read: declared,
    topics: isWorker
      ? [
          ...entryExchanges.map((exchange, level) => ({
            exchange,
            write: level === longest ? sent.write : NOTHING,
            read: levelBoundBy(network, level),
          })),
          { exchange: deliveryExchange, write: NOTHING, read: boundBy(own) },
        ]
      : [sent],
    tags: [],
  };
}

/** The keys by which a worker binds what follows a level's exchange: its queue by a 1, the next exchange by a 0. */
function levelBoundBy({ levels }: DelayNetwork, level: number): string {
  return `^(?:\\*\\.){${levels - 1 - level}}[01]\\.#$`;
}

/** The exchanges by which failed messages leave, for the way back and for good. */
function writtenTo(descriptor: RetryDescriptor): string[] {
  switch (descriptor.kind) {
    case "retry-intervals":
      return descriptor.intervalsMs.map((intervalMs) => intervalName(descriptor, intervalMs));
    case "work-retry":
      return planRetry(descriptor)
        .exchanges.map(({ name }) => name)
        .filter((name) => name !== descriptor.name);
    case "delayed-retry":
      return [];
    case "hold-queues":
      throw new DelayTopologyError(
        "retries",
        descriptor.kind,
        "hold queues are published to by the default exchange, which reaches every queue; take another mechanism",
      );
  }
}

function topicsOf({ entryExchanges, levels }: DelayNetwork, destinations: string[]): AccessPlan["topics"] {
  const names = [...new Set(destinations)].map((name, index) =>
    escapeRegex(checkEntityName(`destinations[${index}]`, name)),
  );
  const write = names.length === 0 ? NOTHING : `^(?:[0-9a-f]\\.){${levels}}(?:${names.join("|")})$`;
  return entryExchanges.map((exchange) => ({ exchange, write, read: NOTHING }));
}

/** The keys by which NServiceBus and Celery bind destinations. */
function boundBy(destinations: string[]): string {
  const names = [...new Set(destinations)].map(escapeRegex);
  return names.length === 0 ? NOTHING : `^#\\.(?:${names.join("|")})$`;
}

/** A regular expression that matches these names and no others. */
export function oneOfNames(names: string[]): string {
  return names.length === 0 ? NOTHING : `^(?:${[...new Set(names)].map(escapeRegex).join("|")})$`;
}

/** Returns the names that a permission of {@link planAccess} covers; undefined for a pattern of another form, which may cover more. */
export function coveredNames(pattern: string): string[] | undefined {
  const names = [...pattern.slice("^(?:".length, -")$".length).matchAll(/(?:\\.|[^\\|])+/g)].map(([name]) =>
    name.replace(/\\(.)/g, "$1"),
  );
  return oneOfNames(names) === pattern ? names : undefined;
}
