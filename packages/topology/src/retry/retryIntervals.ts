import { BindingPlan, EntityPlan, escapeRegex, PolicyPlan } from "../entities";
import { checkEntityName } from "../names";
import type { QueueType } from "../network/delayNetwork";
import { byHand, Source } from "../optionReading";
import type { RetryIntervalsOptions } from "../options.generated";
import { checkQueueKind, QueueKind, waitingArguments } from "../queueKind";
import { namedAs, optionsIn, readDescriptor } from "../readDescriptor";
import { readRetryIntervalsOptions, retryIntervalsNames } from "../retryReaders.generated";
import { checkDeclared, sortedDelays } from "./delays";

/** The descriptor of interval queues: plain JSON that a stack exports and that services read. */
export interface RetryIntervals {
  kind: "retry-intervals";
  version: 1;
  /** Start of all names, e.g. `mt-delay`. */
  prefix: string;
  /** The direct exchange that brings a message back to the queue whose name is its routing key. */
  returnExchange: string;
  queueType: QueueType;
  /** Whether a message leaves an interval's queue only when the next queue has confirmed it. */
  atLeastOnce: boolean;
  /** The intervals that there are queues for, in milliseconds, ascending. */
  intervalsMs: number[];
  /** The exchange and the queue, of one name, that keep what comes back to no queue; undefined: such a message is lost, or stays. */
  parkingExchange?: string;
  parkingQueue?: string;
}

/**
 * Makes the descriptor of interval queues from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function retryIntervals(options: RetryIntervalsOptions): RetryIntervals {
  return makeRetryIntervals(options, byHand);
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseRetryIntervals(value: unknown, property = "retryIntervals"): RetryIntervals {
  return readDescriptor<RetryIntervals>(value, "retry-intervals", property, (given, source) => {
    // Stacks of before there was parking export none.
    const parking = given.parkingExchange !== undefined || given.parkingQueue !== undefined;
    const options = { ...optionsIn(retryIntervalsNames, given, IN_DESCRIPTOR), parking };
    return makeRetryIntervals(options, namedAs(source, IN_DESCRIPTOR));
  });
}

/** What the descriptor calls options that it has under another name. */
const IN_DESCRIPTOR = { intervals: "intervalsMs" };

function makeRetryIntervals(options: unknown, source: Source): RetryIntervals {
  const { at } = source;
  const { intervals, prefix, parking, ...shape } = readRetryIntervalsOptions(options, "retryIntervals", source);
  const intervalsMs = sortedDelays(intervals);
  const [returnExchange, parkingName] = [`${prefix}-return`, `${prefix}-parking`];
  for (const name of [returnExchange, parkingName, intervalName({ prefix }, intervalsMs.at(-1) as number)])
    checkEntityName(at("prefix"), name);
  return {
    kind: "retry-intervals",
    version: 1,
    prefix,
    returnExchange,
    ...checkQueueKind(shape, at),
    intervalsMs,
    ...(parking ? { parkingExchange: parkingName, parkingQueue: parkingName } : {}),
  };
}

/** Name of an interval's exchange and of its queue. */
export function intervalName({ prefix }: Pick<RetryIntervals, "prefix">, intervalMs: number): string {
  return `${prefix}-${intervalMs}`;
}

/**
 * The exchange that keeps a message for an interval; its routing key says which queue it comes back to.
 * @throws DelayTopologyError that lists the intervals there are
 */
export function intervalExchange(descriptor: RetryIntervals, delayMs: number): string {
  return intervalName(descriptor, checkDeclared("delayMs", delayMs, descriptor.intervalsMs));
}

/**
 * Plans the return exchange, an exchange with a queue for each interval, and what keeps messages that come back to no queue: a policy,
 * because an argument would make the return exchange differ from the one that MassTransit declares.
 */
export function planRetryIntervals(descriptor: RetryIntervals): EntityPlan & { policy?: PolicyPlan } {
  const { returnExchange, intervalsMs } = descriptor;
  const intervals = intervalsMs.map((intervalMs) => ({ intervalMs, name: intervalName(descriptor, intervalMs) }));
  const parking = planParking(descriptor);
  return {
    exchanges: [
      { name: returnExchange, type: "direct", durable: true },
      ...parking.exchanges,
      ...intervals.map(({ name }) => ({ name, type: "fanout" as const, durable: true as const })),
    ],
    queues: [
      ...parking.queues,
      ...intervals.map(({ name, intervalMs }) => ({
        name,
        durable: true as const,
        arguments: asMassTransit(descriptor, waitingArguments(descriptor, intervalMs, { exchange: returnExchange })),
      })),
    ],
    bindings: [...parking.bindings, ...intervals.map(({ name }) => bindAll(name, name))],
    ...(parking.policy === undefined ? {} : { policy: parking.policy }),
  };
}

/** The parking queue is always a quorum queue: no client of a vendor declares it. */
function planParking(descriptor: RetryIntervals): EntityPlan & { policy?: PolicyPlan } {
  const { returnExchange, parkingExchange, parkingQueue } = descriptor;
  if (parkingExchange === undefined || parkingQueue === undefined) return { exchanges: [], queues: [], bindings: [] };
  return {
    exchanges: [{ name: parkingExchange, type: "fanout", durable: true }],
    queues: [{ name: parkingQueue, durable: true, arguments: { "x-queue-type": "quorum" } }],
    bindings: [bindAll(parkingExchange, parkingQueue)],
    policy: {
      name: parkingExchange,
      pattern: `^${escapeRegex(returnExchange)}$`,
      applyTo: "exchanges",
      priority: 100,
      definition: { "alternate-exchange": parkingExchange },
    },
  };
}

function bindAll(source: string, destination: string): BindingPlan {
  return { source, destination, destinationType: "queue", routingKey: "" };
}

/** Its clients give a classic queue no type, and a difference would show as a change, which deletes the queue. */
function asMassTransit(
  { queueType }: QueueKind,
  values: Record<string, string | number>,
): Record<string, string | number> {
  const { "x-queue-type": type, ...others } = values;
  return queueType === "classic" || type === undefined ? others : { "x-queue-type": type, ...others };
}

/**
 * Plans what lets a queue get its messages back: its own name on the return exchange, which is what its consumer puts on them.
 * @param queue the queue itself, whatever the endpoint is called that it serves
 * @throws DelayTopologyError for a name that is none
 */
export function planReturnBinding({ returnExchange }: RetryIntervals, queue: string): BindingPlan {
  const name = checkEntityName("endpoint", queue);
  return { source: returnExchange, destination: name, destinationType: "queue", routingKey: name };
}
