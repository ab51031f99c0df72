import type { BindingPlan, EntityPlan } from "../entities";
import { DelayTopologyError, checkOneOf } from "../errors";
import { checkEntityName } from "../names";
import { QueueType, queueTypes } from "../network";
import { checkDeclared, readDelays } from "./delays";
import { checkHead } from "./descriptor";
import { waitingArguments } from "./waiting";

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
}

const known = ["intervals", "prefix", "queueType", "atLeastOnce"];

/**
 * Makes the descriptor of interval queues from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function retryIntervals(options: RetryIntervalsOptions): RetryIntervals {
  if (typeof options !== "object" || options === null) {
    throw new DelayTopologyError("retryIntervals", options, "it must be an object with at least intervals");
  }
  for (const [key, value] of Object.entries(options)) {
    if (!known.includes(key)) throw new DelayTopologyError(key, value, `known properties are ${known.join(", ")}`);
  }
  const prefix = options.prefix ?? "mt-delay";
  const queueType = options.queueType ?? "classic";
  return checkIntervals(
    {
      prefix,
      returnExchange: `${prefix}-return`,
      queueType,
      atLeastOnce: options.atLeastOnce ?? queueType === "quorum",
      intervalsMs: readDelays("intervals", options.intervals),
    },
    (name) => name,
  );
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseRetryIntervals(value: unknown, property = "retryIntervals"): RetryIntervals {
  const descriptor = checkHead<RetryIntervals>(value, "retry-intervals", property);
  const at = (name: string): string => `${property}.${name}`;
  const intervalsMs = readDelays(at("intervalsMs"), descriptor.intervalsMs);
  const { returnExchange, prefix } = descriptor;
  if (returnExchange !== `${prefix}-return`) {
    throw new DelayTopologyError(at("returnExchange"), returnExchange, `for this prefix it must be ${prefix}-return`);
  }
  return checkIntervals({ ...(descriptor as RetryIntervals), intervalsMs }, at);
}

function checkIntervals(given: Omit<RetryIntervals, "kind" | "version">, at: (name: string) => string): RetryIntervals {
  const { intervalsMs, returnExchange } = given;
  const prefix = checkEntityName(at("prefix"), given.prefix);
  const queueType = checkOneOf(at("queueType"), given.queueType, queueTypes);
  const { atLeastOnce } = given;
  if (typeof atLeastOnce !== "boolean") {
    throw new DelayTopologyError(at("atLeastOnce"), atLeastOnce, "it must be true or false");
  }
  if (atLeastOnce && queueType === "classic") {
    throw new DelayTopologyError(at("atLeastOnce"), atLeastOnce, "classic queues can't; leave it out or take quorum");
  }
  const descriptor: RetryIntervals = {
    kind: "retry-intervals",
    version: 1,
    prefix,
    returnExchange,
    queueType,
    atLeastOnce,
    intervalsMs,
  };
  for (const name of [returnExchange, intervalName(descriptor, intervalsMs.at(-1) as number)])
    checkEntityName(at("prefix"), name);
  return descriptor;
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

/** Plans the return exchange, and an exchange with a queue for each interval. */
export function planRetryIntervals(descriptor: RetryIntervals): EntityPlan {
  const { returnExchange, queueType, atLeastOnce, intervalsMs } = descriptor;
  const intervals = intervalsMs.map((intervalMs) => ({ intervalMs, name: intervalName(descriptor, intervalMs) }));
  return {
    exchanges: [
      { name: returnExchange, type: "direct", durable: true },
      ...intervals.map(({ name }) => ({ name, type: "fanout" as const, durable: true as const })),
    ],
    queues: intervals.map(({ name, intervalMs }) => ({
      name,
      durable: true,
      arguments: waitingArguments(queueType, atLeastOnce, intervalMs, { exchange: returnExchange }),
    })),
    bindings: intervals.map(({ name }) => ({
      source: name,
      destination: name,
      destinationType: "queue",
      routingKey: "",
    })),
  };
}

/**
 * Plans what lets a queue get its messages back: its own name on the return exchange.
 * @throws DelayTopologyError for a name that is none
 */
export function planReturnBinding({ returnExchange }: RetryIntervals, queue: string): BindingPlan {
  const name = checkEntityName("endpoint", queue);
  return { source: returnExchange, destination: name, destinationType: "queue", routingKey: name };
}
