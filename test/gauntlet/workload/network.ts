import { DelayNetwork, delayNetwork, parkingPolicy, planBinding, planEntities } from "@rabbitmq-delay/topology";
import type { EndpointType, Matching, Preset, QueueType } from "pulumi-rabbitmq-delay";
import { LastingChannel } from "../channels";
import { declaredByComponents } from "../declare/components";
import { Entities, declare, entitiesOf, joined } from "../declare/entities";
import { withoutLimits } from "../declare/limits";
import type { NetworkMessage, NetworkPart, PlannedEndpoint } from "../plan/types";
import { libraryOf, networkSend, noted } from "../publishing";
import type { Round, RunningPart } from "./part";
import { receiver } from "./receiver";

/** Declares a network and its endpoints, and starts who receives. */
export async function startNetwork(round: Round, part: NetworkPart, vhost: string): Promise<RunningPart> {
  const { broker, history } = round;
  const network = delayNetwork(part.network);
  const services = entitiesOf(...part.endpoints.map(serviceOf));
  const ours = part.declaredBy === "components" ? await ofComponents(part, network) : ofPlans(part, network);
  const entities = joined(services, ours);
  await declare(broker, vhost, withoutLimits(services, broker.line));
  await declare(broker, vhost, part.declaredBy === "components" ? ours : withoutLimits(ours, broker.line));
  const url = broker.amqpUrl(vhost);
  const channels = {
    amqplib: new LastingChannel("amqplib", url),
    "rabbitmq-client": new LastingChannel("rabbitmq-client", url),
  };
  const queues = [
    ...part.endpoints.map((endpoint) => ({ queue: queueOf(endpoint), place: `queue:${endpoint.name}` })),
    ...(network.parkingQueue === undefined ? [] : [{ queue: network.parkingQueue, place: "parking" }]),
  ];
  const repeated = part.messages.filter(({ again }) => (again ?? 0) > 0);
  const consumer = receiver(round, part.name, vhost, queues, {
    network,
    publisher: libraryOf(repeated[0]?.publisher ?? "amqplib"),
    again: Object.fromEntries(
      repeated.map(({ n, again, delayMs, destination }) => [n, { times: again, delayMs, destination }]),
    ),
  });
  return {
    name: part.name,
    vhost,
    queues: entities.queues.map(({ name }) => name),
    endpoints: part.endpoints.map(({ name }) => ({
      name,
      bindings: ours.bindings.filter(
        ({ destination, source }) => destination === name && source === network.deliveryExchange,
      ),
    })),
    consumers: [consumer],
    dispatchers: [],
    channels: Object.values(channels),
    publish: (message) =>
      noted(history, part.name, message as NetworkMessage, () =>
        networkSend(channels, network, message as NetworkMessage),
      ),
  };
}

/** The queue that an endpoint's messages get to. */
function queueOf({ name, type }: PlannedEndpoint): string {
  return type === "queue" ? name : `${name}.queue`;
}

/** What a service has of its own: a queue, or an exchange with a queue behind it. */
function serviceOf(endpoint: PlannedEndpoint): Parameters<typeof entitiesOf>[0] {
  const { name, type, queueType } = endpoint;
  const queues = [{ name: queueOf(endpoint), arguments: { "x-queue-type": queueType } }];
  if (type === "queue") return { queues };
  const binding = { source: name, destination: `${name}.queue`, destinationType: "queue" as const, routingKey: "" };
  return { exchanges: [{ name, type: "fanout" }], queues, bindings: [binding] };
}

function ofPlans(part: NetworkPart, network: DelayNetwork): Entities {
  const bindings = part.endpoints.flatMap(
    ({ name, type, patterns }) => planBinding(network, { name, type, patterns }).bindings,
  );
  return entitiesOf(planEntities(network), { bindings, policies: [parkingPolicy(network)] });
}

function ofComponents(part: NetworkPart, network: DelayNetwork): Promise<Entities> {
  const { preset, queueType, matching, ...shape } = part.network;
  return declaredByComponents(({ DelayLevelTopology, EndpointDelayBinding }) => [
    new DelayLevelTopology("delay", {
      ...shape,
      preset: preset as Preset,
      queueType: queueType as QueueType | undefined,
      matching: matching as Matching | undefined,
    }),
    ...part.endpoints.map(
      ({ name, type, patterns }) =>
        new EndpointDelayBinding(name, { endpoint: name, network, endpointType: type as EndpointType, patterns }),
    ),
  ]);
}
