import {
  DelayNetwork,
  DelayTopologyError,
  RetryIntervals,
  encodeDelay,
  intervalExchange,
  parseDelayNetwork,
  parseRetryIntervals,
} from "rabbitmq-delay-topology";

/** Where a copy of a failed message is published, so that it is back in its queue after the delay. */
export interface RedeliveryRoute {
  exchange: string;
  routingKey: string;
  /** Headers that the mechanism needs. */
  headers: Record<string, unknown>;
}

/** A way by which failed messages come back, as the stack declared it. */
export interface RetryMechanism {
  /** For messages of errors. */
  readonly name: string;
  /**
   * Where a message of `queue` is published to come back after `delayMs`.
   * @throws DelayTopologyError for a delay that the declared queues don't have; it says which they have
   */
  route(queue: string, delayMs: number): RedeliveryRoute;
}

/**
 * Through interval queues (`RetryIntervalQueues`); the queue is bound by an `EndpointDelayBinding` with `retryIntervals`.
 * @param descriptor the stack's output `retryIntervals`
 */
export function throughRetryIntervals(descriptor: RetryIntervals): RetryMechanism {
  const intervals = parseRetryIntervals(descriptor);
  return {
    name: "interval queues",
    route: (queue, delayMs) => ({ exchange: intervalExchange(intervals, delayMs), routingKey: queue, headers: {} }),
  };
}

/**
 * Through a delay network, for any delay; the queue is bound by an `EndpointDelayBinding`.
 * @param descriptor the stack's output `delayNetwork`
 */
export function throughDelayNetwork(descriptor: DelayNetwork): RetryMechanism {
  const network = parseDelayNetwork(descriptor);
  return {
    name: "a delay network",
    route: (queue, delayMs) => ({ ...pick(encodeDelay(network, delayMs, queue)), headers: {} }),
  };
}

/**
 * Through an exchange of the archived plugin rabbitmq_delayed_message_exchange, for those who still run it; the queue is
 * bound to it by its own name.
 * @param exchange name of the exchange of type `x-delayed-message`
 */
export function throughDelayedExchange(exchange: string): RetryMechanism {
  if (typeof exchange !== "string" || exchange === "") {
    throw new DelayTopologyError("exchange", exchange, "it must be the name of an x-delayed-message exchange");
  }
  return {
    name: "the delayed message exchange",
    route: (queue, delayMs) => ({ exchange, routingKey: queue, headers: { "x-delay": delayMs } }),
  };
}

function pick({ exchange, routingKey }: { exchange: string; routingKey: string }): Omit<RedeliveryRoute, "headers"> {
  return { exchange, routingKey };
}
