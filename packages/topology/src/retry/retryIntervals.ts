import type { BindingPlan, EntityPlan } from "../entities";
import { DelayTopologyError } from "../errors";
import { checkEntityName } from "../names";
import type { QueueType } from "../network";
import { checkDeclared, readDelays } from "./delays";
import { checkHead } from "./descriptor";
import { checkKnown } from "./options";
import { QueueKind, checkQueueKind, waitingArguments } from "./queueKind";

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
  checkKnown("retryIntervals", options, known);
  const { prefix = "mt-delay", queueType = "classic", atLeastOnce, intervals } = options;
  const intervalsMs = readDelays("intervals", intervals);
  return checkIntervals({ prefix, queueType, atLeastOnce, intervalsMs }, (name) => name);
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
  return checkIntervals(
    { prefix, queueType: descriptor.queueType, atLeastOnce: descriptor.atLeastOnce, intervalsMs },
    at,
  );
}

function checkIntervals(
  given: { prefix: unknown; queueType: unknown; atLeastOnce: unknown; intervalsMs: number[] },
  at: (name: string) => string,
): RetryIntervals {
  const { intervalsMs } = given;
  const prefix = checkEntityName(at("prefix"), given.prefix);
  const returnExchange = `${prefix}-return`;
  for (const name of [returnExchange, intervalName({ prefix }, intervalsMs.at(-1) as number)])
    checkEntityName(at("prefix"), name);
  return { kind: "retry-intervals", version: 1, prefix, returnExchange, ...checkQueueKind(given, at), intervalsMs };
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
  const { returnExchange, intervalsMs } = descriptor;
  const intervals = intervalsMs.map((intervalMs) => ({ intervalMs, name: intervalName(descriptor, intervalMs) }));
  return {
    exchanges: [
      { name: returnExchange, type: "direct", durable: true },
      ...intervals.map(({ name }) => ({ name, type: "fanout" as const, durable: true as const })),
    ],
    queues: intervals.map(({ name, intervalMs }) => ({
      name,
      durable: true,
      arguments: asMassTransit(descriptor, waitingArguments(descriptor, intervalMs, { exchange: returnExchange })),
    })),
    bindings: intervals.map(({ name }) => ({
      source: name,
      destination: name,
      destinationType: "queue",
      routingKey: "",
    })),
  };
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
 * Plans what lets a queue get its messages back: its own name on the return exchange.
 * @throws DelayTopologyError for a name that is none
 */
export function planReturnBinding({ returnExchange }: RetryIntervals, queue: string): BindingPlan {
  const name = checkEntityName("endpoint", queue);
  return { source: returnExchange, destination: name, destinationType: "queue", routingKey: name };
}
