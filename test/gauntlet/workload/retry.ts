import type { ConfirmChannel } from "amqplib";
import type { QueueType } from "pulumi-rabbitmq-delay";
import {
  DelayNetwork,
  RetryDescriptor,
  delayNetwork,
  delayedRetry,
  holdQueues,
  parkingPolicy,
  planBinding,
  planEntities,
  planReturnBinding,
  planRetry,
  retryIntervals,
  workRetry,
} from "@rabbitmq-delay/topology";
import { LastingChannel } from "../channels";
import { declaredByComponents } from "../declare/components";
import { Entities, declare, entitiesOf } from "../declare/entities";
import { withoutLimits } from "../declare/limits";
import type { RetryPart } from "../plan/types";
import { noted, sendByHand } from "../publishing";
import type { Round, RunningPart } from "./part";
import { childOf } from "./receiver";

/** What a part's way to retry needs on the broker, and what its consumer is told. */
interface Way {
  /** What the service has of its own. */
  service: Entities;
  ours: Entities;
  descriptor?: RetryDescriptor | DelayNetwork;
  errorQueue: string;
}

/** Declares a queue with a way to retry, and starts its consumer. */
export async function startRetry(round: Round, part: RetryPart, vhost: string): Promise<RunningPart> {
  const { broker, history } = round;
  const way = part.declaredBy === "components" ? await ofComponents(part) : ofPlans(part);
  await declare(broker, vhost, withoutLimits(way.service, broker.line));
  await declare(broker, vhost, part.declaredBy === "components" ? way.ours : withoutLimits(way.ours, broker.line));
  const { queue, messages, delaysMs, immediate, handlerTimeoutMs, blockMs, confirmTimeoutMs, concurrency } = part;
  const consumer = childOf(round, part.name, vhost, "retrier.js", {
    ...{ queue, messages, delaysMs, immediate, handlerTimeoutMs, blockMs, confirmTimeoutMs, concurrency },
    errorQueue: way.errorQueue,
    descriptor: way.descriptor,
    ...(part.way === "holds-on-demand" ? { onDemand: { leaseMs: part.leaseMs } } : {}),
    // The queue may have another name than its endpoint, which is what its binding says.
    ...(part.way === "network" ? { destination: (part.patterns?.[0] ?? part.endpoint).replace(/[*#]/g, "any") } : {}),
  });
  const channel = new LastingChannel("amqplib", broker.amqpUrl(vhost));
  const [exchange, routingKey] = part.way === "work" ? [queue, "order.placed"] : ["", queue];
  return {
    name: part.name,
    vhost,
    queues: [...way.service.queues, ...way.ours.queues].map(({ name }) => name),
    endpoints: [],
    consumers: [consumer],
    dispatchers: [],
    channels: [channel],
    publish: (message) =>
      noted(history, part.name, { ...message, delayMs: 0 }, () => {
        const open = channel.channel as ConfirmChannel | undefined;
        const { n, messageId } = message;
        if (open === undefined) return undefined;
        return () => sendByHand(open, exchange, routingKey, n, messageId === undefined ? {} : { messageId });
      }),
  };
}

const own = (name: string, queueType = "quorum"): { name: string; arguments: Record<string, unknown> } => ({
  name,
  arguments: { "x-queue-type": queueType },
});

/** Names of their own, so that no MassTransit's are meant. */
function intervalsOf({ delaysMs, queueType }: RetryPart): ReturnType<typeof retryIntervals> {
  return retryIntervals({ intervals: delaysMs, prefix: "own-retry", queueType });
}

function networkOf({ queueType }: RetryPart): DelayNetwork {
  return delayNetwork({ preset: "custom", prefix: "retries", radix: 4, levels: 5, unitMs: 10, queueType });
}

function delayedRetryOf({ queue, delaysMs }: RetryPart): ReturnType<typeof delayedRetry> {
  const [minMs = 100, ...more] = delaysMs;
  return delayedRetry({ queue, minMs, maxMs: more.at(-1) ?? minMs, deliveryLimit: delaysMs.length });
}

function ofPlans(part: RetryPart): Way {
  const { way, queue, queueType, delaysMs } = part;
  const error = own(`${queue}_error`);
  const service = entitiesOf({ queues: [error, own(queue, queueType)] });
  switch (way) {
    case "intervals": {
      const descriptor = intervalsOf(part);
      const bindings = [planReturnBinding(descriptor, queue)];
      return { service, ours: entitiesOf(planRetry(descriptor), { bindings }), descriptor, errorQueue: error.name };
    }
    case "network": {
      const descriptor = networkOf(part);
      const { bindings } = planBinding(descriptor, { name: queue });
      const more = { bindings, policies: [parkingPolicy(descriptor)] };
      return { service, ours: entitiesOf(planEntities(descriptor), more), descriptor, errorQueue: error.name };
    }
    case "holds": {
      const descriptor = holdQueues({
        delays: delaysMs,
        destinations: [{ exchange: "", routingKey: queue }],
        queueType,
      });
      return { service, ours: entitiesOf(planRetry(descriptor)), descriptor, errorQueue: error.name };
    }
    case "holds-on-demand":
      return { service, ours: entitiesOf(), errorQueue: error.name };
    case "work": {
      const descriptor = workRetry({ queue, delays: delaysMs, queueType });
      return {
        service: entitiesOf(),
        ours: entitiesOf(planRetry(descriptor)),
        descriptor,
        errorQueue: descriptor.deadQueue,
      };
    }
    case "delayed-retry": {
      const descriptor = delayedRetryOf(part);
      return {
        service: entitiesOf(),
        ours: entitiesOf(planRetry(descriptor)),
        descriptor,
        errorQueue: descriptor.deadQueue ?? "",
      };
    }
  }
}

/** The same by components, where there is one that needs no broker at hand. */
async function ofComponents(part: RetryPart): Promise<Way> {
  const { way, endpoint, queue, patterns, delaysMs } = part;
  const queueType = part.queueType as QueueType;
  const planned = ofPlans(part);
  const isRenamed = queue !== endpoint;
  const ofEndpoint = isRenamed ? { destination: queue, patterns } : { createQueue: true, queueType };
  const service = isRenamed ? planned.service : entitiesOf({ queues: [own(planned.errorQueue)] });
  switch (way) {
    case "intervals":
    case "network": {
      const { descriptor } = planned;
      const source =
        way === "network"
          ? { network: descriptor as DelayNetwork }
          : { retryIntervals: descriptor as ReturnType<typeof retryIntervals> };
      const ours = await declaredByComponents(({ DelayLevelTopology, RetryIntervalQueues, EndpointDelayBinding }) => [
        way === "network"
          ? new DelayLevelTopology("delay", {
              ...{ preset: "custom" as never, prefix: "retries", radix: 4, levels: 5, unitMs: 10, queueType },
            })
          : new RetryIntervalQueues("retry", { intervals: delaysMs, prefix: "own-retry", queueType }),
        new EndpointDelayBinding("orders", { endpoint, ...ofEndpoint, ...source }),
      ]);
      return { ...planned, service, ours };
    }
    case "work": {
      const ours = await declaredByComponents(({ WorkRetryQueues }) => [
        new WorkRetryQueues("work", { queue, delays: delaysMs, queueType }),
      ]);
      return { ...planned, ours };
    }
    case "holds": {
      const destinations = [{ exchange: "", routingKey: queue }];
      const ours = await declaredByComponents(({ HoldQueues }) => [
        new HoldQueues("hold", { delays: delaysMs, destinations, queueType }),
      ]);
      return { ...planned, ours };
    }
    case "holds-on-demand":
    case "delayed-retry":
      return planned;
  }
}
