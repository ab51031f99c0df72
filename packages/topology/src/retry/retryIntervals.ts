import { BindingPlan, EntityPlan, PolicyPlan, escapeRegex } from "../entities";
import { DelayTopologyError, checkKnown } from "../errors";
import { checkEntityName } from "../names";
import type { QueueType } from "../network/delayNetwork";
import { checkDeclared, readDelays } from "./delays";
import { checkHead } from "../descriptorHead";
import { QueueKind, checkQueueKind, waitingArguments } from "../queueKind";

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

/** What interval queues are made from. */
export interface RetryIntervalsOptions {
  /** Milliseconds, or texts like `"5m"`; each once, in any order. */
  intervals: (number | string)[];
  /** Start of all names. Default `mt-delay`, which is MassTransit's. */
  prefix?: string;
  /** Default `classic`, as MassTransit declares them; take `quorum` for names that no MassTransit declares. */
  queueType?: QueueType;
  /** Default true for `quorum`; `classic` can't. */
  atLeastOnce?: boolean;
  /** Whether messages that come back to no queue are kept in a parking queue. Default true. */
  parking?: boolean;
}

const known = ["intervals", "prefix", "queueType", "atLeastOnce", "parking"];

/**
 * Makes the descriptor of interval queues from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function retryIntervals(options: RetryIntervalsOptions): RetryIntervals {
  checkKnown("retryIntervals", options, known);
  const { prefix = "mt-delay", queueType = "classic", atLeastOnce, intervals, parking = true } = options;
  const intervalsMs = readDelays("intervals", intervals);
  if (typeof parking !== "boolean") throw new DelayTopologyError("parking", parking, "it must be true or false");
  return checkIntervals({ prefix, queueType, atLeastOnce, intervalsMs, parking }, (name) => name);
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseRetryIntervals(value: unknown, property = "retryIntervals"): RetryIntervals {
  const descriptor = checkHead<RetryIntervals>(value, "retry-intervals", property);
  const at = (name: string): string => `${property}.${name}`;
  const intervalsMs = readDelays(at("intervalsMs"), descriptor.intervalsMs);
  const { prefix, queueType, atLeastOnce, parkingExchange, parkingQueue } = descriptor;
  // Stacks of before there was parking export none.
  const parking = parkingExchange !== undefined || parkingQueue !== undefined;
  const checked = checkIntervals({ prefix, queueType, atLeastOnce, intervalsMs, parking }, at);
  for (const name of ["returnExchange", "parkingExchange", "parkingQueue"] as const) {
    if (descriptor[name] !== checked[name]) {
      throw new DelayTopologyError(at(name), descriptor[name], `for this prefix it must be ${checked[name]}`);
    }
  }
  return checked;
}

function checkIntervals(
  given: { prefix: unknown; queueType: unknown; atLeastOnce: unknown; intervalsMs: number[]; parking: boolean },
  at: (name: string) => string,
): RetryIntervals {
  const { intervalsMs } = given;
  const prefix = checkEntityName(at("prefix"), given.prefix);
  const [returnExchange, parking] = [`${prefix}-return`, `${prefix}-parking`];
  for (const name of [returnExchange, parking, intervalName({ prefix }, intervalsMs.at(-1) as number)])
    checkEntityName(at("prefix"), name);
  return {
    kind: "retry-intervals",
    version: 1,
    prefix,
    returnExchange,
    ...checkQueueKind(given, at),
    intervalsMs,
    ...(given.parking ? { parkingExchange: parking, parkingQueue: parking } : {}),
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
