import {
  DelayNetwork,
  DelayTopologyError,
  DelayedRetry,
  HoldQueues,
  HoldSettingsOptions,
  QueuePlan,
  RetryDescriptor,
  RetryIntervals,
  WorkRetry,
  declaredHoldQueue,
  delayedRetryMs,
  encodeDelay,
  holdSettings,
  intervalExchange,
  openedJson,
  parseDelayNetwork,
  parseRetryDescriptor,
  planHoldQueue,
  workRetryRoute,
} from "@rabbitmq-delay/topology/descriptors";
import { queuesLeft } from "../brokerHeaders";
import { delayHeaders } from "../headers";
import { DEFAULT_LEASE_MS } from "../hold/lease";

/** A failed message that is to come back. */
export interface Redelivery {
  /** The queue that it was consumed from. */
  queue: string;
  /** The routing key that it was first published with. */
  routingKey: string;
  delayMs: number;
  /** Which redelivery this will be, starting at 1. */
  redelivery: number;
}

/** The step that brings a failed message back after its delay. */
export type RedeliveryStep = RepublishStep | { kind: "reject" };

/** A copy is published, and the original is acknowledged. */
export interface RepublishStep {
  kind: "republish";
  exchange: string;
  routingKey: string;
  /** Headers that the mechanism needs. */
  headers: Record<string, unknown>;
  /** A queue that has to be declared before each copy. */
  declare?: QueuePlan;
  /** How long the copy waits, in milliseconds, if that is not exactly the requested delay. */
  waitsMs?: number;
  /** Further headers, which depend on when the copy is due. */
  headersAt?: (dueAt: Date) => Record<string, unknown>;
}

/** What must exist on the broker so that a failed message comes back. */
export interface WayBack {
  exchanges: string[];
  queues: string[];
}

/** How failed messages come back, as the stack declared it. */
export interface RetryMechanism {
  /** For messages of errors. */
  readonly name: string;
  /** The queue for messages that used up their tries, if the stack declared one. */
  readonly errorQueue?: string;
  /** The exchange that leads to that queue. */
  readonly errorExchange?: string;
  /** Whether the broker returns each copy that is published as mandatory, although it has accepted it. */
  readonly returnsCopies?: boolean;
  /** How often a message may come back; undefined: as often as the policy says. */
  readonly maximumRedeliveries?: number;
  /**
   * How often the broker itself has redelivered a failed message, if it counts; read from the headers of a message that it delivers again.
   * A broker that counts takes a lost consumer as a failure of each message that it had handed out, tried or not.
   */
  countedByBroker?(headers: Record<string, unknown>): number;
  /**
   * Plans how a message comes back.
   * @throws DelayTopologyError for a delay or a queue that nothing was declared for; it says what was
   */
  plan(redelivery: Redelivery): RedeliveryStep;
  /**
   * What must exist beside the exchanges and queues to which copies are published; checked when the consumer starts.
   * @param longestMs the longest delay of the policy, in milliseconds
   */
  wayBack?(longestMs: number): WayBack;
}

/** How failed messages come back over a delay network. */
export interface DelayNetworkRetryOptions {
  /**
   * The destination by which the queue gets delayed messages. Default: the queue's own name, which is right if an `EndpointDelayBinding`
   * names the queue as its `endpoint` and has no `patterns`. Otherwise give the `endpoint`, or a name that one of the `patterns` matches: a
   * copy for any other name reaches no queue, and ends in the network's parking queue.
   */
  destination?: string;
}

/**
 * Retries through whatever the stack declared:
 * - a delay network, for any delay; the queue is bound by an `EndpointDelayBinding`
 * - interval queues (`RetryIntervalQueues`); the queue is bound by an `EndpointDelayBinding` with `retryIntervals`
 * - the retry queues of one work queue (`WorkRetryQueues`); messages that used up their tries go to its dead queue
 * - hold queues (`HoldQueues`) whose destination is the queue itself, on the default exchange
 * - the broker's own delayed retry (`DelayedRetryQueue`, RabbitMQ 4.3 or newer): failed messages are rejected, and stay in their queue. Its
 *   delays grow automatically, so the policy has to have the same ones; see {@link RetryPolicy.declared}
 * @param descriptor a descriptor out of the stack's outputs, or its JSON text
 * @param options for a delay network only
 * @throws DelayTopologyError for another descriptor, a destination that no routing key can have, or a queue whose delayed retry only
 * applies to messages given back without a failure, which nothing would count
 * @example
 * ```ts
 * import { RetryPolicy, throughDeclared } from "@rabbitmq-delay/publish";
 *
 * const workRetry = JSON.parse(process.env.WORK_RETRY ?? "");
 * export const options = { policy: RetryPolicy.declared(workRetry), mechanism: throughDeclared(workRetry) };
 * ```
 */
export function throughDeclared(
  descriptor: RetryDescriptor | DelayNetwork | string,
  options: DelayNetworkRetryOptions = {},
): RetryMechanism {
  const opened = openedJson(descriptor) as { kind?: unknown } | null | undefined;
  if (opened?.kind === "delay-network") return throughDelayNetwork(parseDelayNetwork(opened), options);
  if (options.destination !== undefined) {
    throw new DelayTopologyError("destination", options.destination, "it is for delay networks; leave it out");
  }
  const declared = parseRetryDescriptor(descriptor);
  switch (declared.kind) {
    case "retry-intervals":
      return throughRetryIntervals(declared);
    case "work-retry":
      return throughWorkRetry(declared);
    case "hold-queues":
      return throughHoldQueues(declared);
    case "delayed-retry":
      return throughDelayedRetry(declared);
  }
}

/**
 * Retries through hold queues that the consumer itself declares, for any delay and without a stack; the broker deletes them when they are
 * no longer used. The user needs the permission to configure them.
 * @param options names and lease; by default `hold` and ten minutes
 * @example
 * ```ts
 * import { RetryPolicy, throughHoldsOnDemand } from "@rabbitmq-delay/publish";
 *
 * const mechanism = throughHoldsOnDemand({ leaseMs: 3_600_000 });
 * export const options = { policy: RetryPolicy.intervals(["5s", "1m"]), mechanism };
 * ```
 */
export function throughHoldsOnDemand(options: HoldSettingsOptions = {}): RetryMechanism {
  const settings = holdSettings(options.queueType === "quorum" ? options : { leaseMs: DEFAULT_LEASE_MS, ...options });
  return {
    name: "hold queues on demand",
    plan({ queue, delayMs }) {
      const hold = planHoldQueue(settings, delayMs, { exchange: "", routingKey: queue });
      return republish("", hold.name, { declare: hold });
    },
  };
}

/**
 * Retries through an exchange of the archived plugin rabbitmq_delayed_message_exchange, for those who still run it; the queue is bound to
 * it by its own name. The plugin returns each mandatory message, even one that it delivers later, so a copy that no queue takes is lost
 * unnoticed.
 * @param exchange name of the exchange of type `x-delayed-message`
 * @example
 * ```ts
 * import { RetryPolicy, throughDelayedExchange } from "@rabbitmq-delay/publish";
 *
 * const mechanism = throughDelayedExchange("orders.delayed");
 * export const options = { policy: RetryPolicy.intervals(["5s", "1m"]), mechanism };
 * ```
 */
export function throughDelayedExchange(exchange: string): RetryMechanism {
  if (typeof exchange !== "string" || exchange === "") {
    throw new DelayTopologyError("exchange", exchange, "it must be the name of an x-delayed-message exchange");
  }
  return {
    name: "the delayed message exchange",
    // The plugin routes a message only when it is due, and until then reports that no queue takes it.
    returnsCopies: true,
    plan: ({ queue, delayMs }) => republish(exchange, queue, { headers: { "x-delay": delayMs } }),
  };
}

function throughDelayNetwork(network: DelayNetwork, { destination }: DelayNetworkRetryOptions): RetryMechanism {
  if (destination !== undefined) encodeDelay(network, 0, destination);
  return {
    name: "a delay network",
    plan({ queue, delayMs }) {
      const { exchange, routingKey, delayMs: waitsMs } = encodeDelay(network, delayMs, destination ?? queue);
      const headersAt = (dueAt: Date): Record<string, unknown> => delayHeaders(network, waitsMs, dueAt);
      return republish(exchange, routingKey, { waitsMs, headersAt });
    },
    wayBack: (longestMs) => ({
      exchanges: [
        ...network.entryExchanges.slice(0, encodeDelay(network, longestMs, destination ?? "any").level),
        ...omitUndefined(network.bindingExchange, network.parkingExchange),
      ],
      queues: omitUndefined(network.parkingQueue),
    }),
  };
}

function throughRetryIntervals(intervals: RetryIntervals): RetryMechanism {
  return {
    name: "interval queues",
    plan: ({ queue, delayMs }) => republish(intervalExchange(intervals, delayMs), queue),
    wayBack: () => ({
      exchanges: omitUndefined(intervals.returnExchange, intervals.parkingExchange),
      queues: omitUndefined(intervals.parkingQueue),
    }),
  };
}

function throughWorkRetry(work: WorkRetry): RetryMechanism {
  return {
    name: `the retry queues of ${work.name}`,
    errorQueue: work.deadQueue,
    // The stack declares a fanout exchange of the same name.
    errorExchange: work.deadQueue,
    maximumRedeliveries: work.maxRetries,
    plan({ queue, delayMs, routingKey }) {
      checkQueue(queue, work.name);
      const route = workRetryRoute(work, delayMs, routingKey);
      return republish(route.exchange, route.routingKey);
    },
    wayBack: () => ({ exchanges: [work.name], queues: [] }),
  };
}

function throughHoldQueues(holds: HoldQueues): RetryMechanism {
  return {
    name: "hold queues",
    plan({ queue, delayMs }) {
      const hold = declaredHoldQueue(holds, delayMs, { exchange: "", routingKey: queue });
      return republish("", hold.name, holds.leaseMs === undefined ? {} : { declare: hold });
    },
  };
}

function throughDelayedRetry(retry: DelayedRetry): RetryMechanism {
  if (retry.type === "returned") {
    throw new DelayTopologyError("type", retry.type, "failed messages need a queue of type failed or all");
  }
  return {
    name: `the delayed retry of ${retry.queue}`,
    errorQueue: retry.deadQueue,
    maximumRedeliveries: retry.deliveryLimit,
    countedByBroker: (headers) => countedDeliveries(headers, retry),
    plan({ queue, delayMs, redelivery }) {
      checkQueue(queue, retry.queue);
      const brokerMs = delayedRetryMs(retry, redelivery);
      if (delayMs === brokerMs) return { kind: "reject" };
      throw new DelayTopologyError(
        "delayMs",
        delayMs,
        `before redelivery ${redelivery} the broker waits ${brokerMs} ms (minMs ${retry.minMs} times ${redelivery}, at most ` +
          `maxMs ${retry.maxMs}); RetryPolicy.declared(descriptor) has its delays`,
      );
    },
  };
}

function republish(
  exchange: string,
  routingKey: string,
  more: Partial<Omit<RepublishStep, "kind" | "exchange" | "routingKey">> = {},
): RepublishStep {
  return { kind: "republish", exchange, routingKey, headers: {}, ...more };
}

/**
 * The broker's count of failures. The broker overwrites an older count at the first failure that it counts. Until then the header is what
 * the message was published with: a message that was moved out of a dead queue has the count that brought it there. Such a count is
 * recognized because it is impossible: more failures than times it was handed out, or after a move than the limit.
 */
function countedDeliveries(headers: Record<string, unknown>, { queue, deliveryLimit }: DelayedRetry): number {
  const failed = Number(headers["x-delivery-count"] ?? 0);
  const handedOut = Number(headers["x-acquired-count"] ?? failed);
  const isMoved = queuesLeft(headers)[0] === queue;
  return failed > handedOut || (isMoved && failed > deliveryLimit) ? 0 : failed;
}

function omitUndefined(...names: (string | undefined)[]): string[] {
  return names.filter((name) => name !== undefined);
}

function checkQueue(queue: string, declared: string): void {
  if (queue !== declared) throw new DelayTopologyError("queue", queue, `the retries were declared for ${declared}`);
}
