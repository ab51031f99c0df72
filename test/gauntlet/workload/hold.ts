import type { QueueType } from "pulumi-rabbitmq-delay";
import { holdFor } from "@rabbitmq-delay/publish";
import { HoldQueues, holdQueues, planHoldQueues } from "@rabbitmq-delay/topology";
import { LastingChannel } from "../channels";
import { declaredByComponents } from "../declare/components";
import { declare, entitiesOf } from "../declare/entities";
import { withoutLimits } from "../declare/limits";
import type { DelayedPlannedMessage, HoldPart } from "../plan/types";
import { libraryOf, noted } from "../publishing";
import type { Round, RunningPart } from "./part";
import { receiver } from "./receiver";

/** Declares hold queues where a stack does, and starts who receives what was held. */
export async function startHold(round: Round, part: HoldPart, vhost: string): Promise<RunningPart> {
  const { broker, history } = round;
  const { destinations, delaysMs, queueType, leaseMs, confirmTimeoutMs } = part;
  const queues = destinations.map((name) => ({ name, arguments: { "x-queue-type": "quorum" } }));
  await declare(broker, vhost, withoutLimits(entitiesOf({ queues }), broker.line));
  const declared = part.isDeclared
    ? holdQueues({ delays: delaysMs, destinations: destinations.map(to), queueType, leaseMs })
    : undefined;
  if (declared !== undefined) await declareHolds(round, part, vhost, declared);
  const url = broker.amqpUrl(vhost);
  const channels = {
    amqplib: new LastingChannel("amqplib", url),
    "rabbitmq-client": new LastingChannel("rabbitmq-client", url),
  };
  const ofStack = { declared, confirmTimeoutMs };
  const onDemand = { queueType, ...(leaseMs === undefined ? {} : { leaseMs }), confirmTimeoutMs };
  return {
    name: part.name,
    vhost,
    queues: [...destinations, ...(declared === undefined ? [] : planHoldQueues(declared).map(({ name }) => name))],
    endpoints: [],
    consumers: [
      receiver(
        round,
        part.name,
        vhost,
        destinations.map((queue) => ({ queue, place: `queue:${queue}` })),
      ),
    ],
    dispatchers: [],
    channels: Object.values(channels),
    publish: (message) => {
      const { n, messageId, delayMs, destination, publisher } = message as DelayedPlannedMessage;
      const hold = { delayMs, ...to(destination) };
      return noted(history, part.name, { ...message, delayMs }, () => {
        const { channel } = channels[libraryOf(publisher)];
        if (channel === undefined) return undefined;
        const given = { body: n, ...(messageId === undefined ? {} : { messageId }) };
        return () => holdFor(channel, hold, given, declared === undefined ? onDemand : ofStack);
      });
    },
  };
}

const to = (routingKey: string): { exchange: string; routingKey: string } => ({ exchange: "", routingKey });

async function declareHolds({ broker }: Round, part: HoldPart, vhost: string, declared: HoldQueues): Promise<void> {
  const planned = entitiesOf({ queues: planHoldQueues(declared) });
  if (part.declaredBy === "plans") {
    return declare(broker, vhost, withoutLimits(planned, broker.line));
  }
  const { delaysMs, destinations, queueType, leaseMs } = part;
  const entities = await declaredByComponents(({ HoldQueues: Component }) => [
    new Component("hold", {
      ...{ delays: delaysMs, destinations: destinations.map(to), queueType: queueType as QueueType, leaseMs },
    }),
  ]);
  await declare(broker, vhost, entities);
}
