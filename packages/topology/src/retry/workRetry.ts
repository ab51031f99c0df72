import type { BindingPlan, EntityPlan } from "../entities";
import { checkEntityName } from "../names";
import { topicMatches } from "../network/topic";
import { byHand, Source } from "../optionReading";
import type { FilledWorkRetryOptions, WorkRetryOptions } from "../options.generated";
import { checkQueueKind, deadLetterArguments, QueueKind, waitingArguments } from "../queueKind";
import { namedAs, optionsIn, readDescriptor } from "../readDescriptor";
import { readWorkRetryOptions, workRetryNames } from "../retryReaders.generated";
import { checkDeclared, sortedDelays } from "./delays";

/** Destination of what a consumer of the work queue rejects without asking for it back. */
export const rejections = ["dead", "retry"] as const;

/** `dead`: to the dead queue; `retry`: to the shortest retry delay, for consumers that count their tries themselves. */
export type Rejection = (typeof rejections)[number];

/** Options that the descriptor has as they are. */
type Carried = Pick<FilledWorkRetryOptions, "patterns" | "rejected">;

/** The descriptor of a work queue with its retry queues and its dead queue: plain JSON that a stack exports. */
export interface WorkRetry extends Carried, QueueKind {
  kind: "work-retry";
  version: 1;
  /** Name of the work queue and of its exchange; start of all other names. */
  name: string;
  /** The retry delays that there are queues for, in milliseconds, ascending. */
  delaysMs: number[];
  /** Most returns of a message before it goes to the dead queue. */
  maxRetries: number;
  /** The queue for what used up its retries. */
  deadQueue: string;
}

/**
 * Makes the descriptor of a work queue with retries from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function workRetry(options: WorkRetryOptions): WorkRetry {
  return makeWorkRetry(options, byHand);
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseWorkRetry(value: unknown, property = "workRetry"): WorkRetry {
  return readDescriptor<WorkRetry>(value, "work-retry", property, (given, source) =>
    makeWorkRetry(optionsIn(workRetryNames, given, IN_DESCRIPTOR), namedAs(source, IN_DESCRIPTOR)),
  );
}

/** What the descriptor calls options that it has under another name. */
const IN_DESCRIPTOR = { queue: "name", delays: "delaysMs" };

function makeWorkRetry(given: unknown, source: Source): WorkRetry {
  const { at } = source;
  const options = readWorkRetryOptions(given, "workRetry", source);
  const { queue: name, delays, maxRetries, queueType, atLeastOnce, ...carried } = options;
  const delaysMs = sortedDelays(delays);
  const deadQueue = `${name}.dead`;
  for (const longer of [deadQueue, retryName({ name }, delaysMs.at(-1) as number)])
    checkEntityName(at("queue"), longer);
  return {
    kind: "work-retry",
    version: 1,
    name,
    ...carried,
    ...checkQueueKind({ queueType, atLeastOnce }, at),
    delaysMs,
    maxRetries: maxRetries ?? delaysMs.length,
    deadQueue,
  };
}

/** Name of a retry delay's exchange and of its queue. */
function retryName({ name }: Pick<WorkRetry, "name">, delayMs: number): string {
  return `${name}.retry-${delayMs}`;
}

/**
 * Where a message of the work queue is published to come back after a delay, with the routing key that it has; with the work
 * queue's own name where that key, e.g. of a message sent straight to the queue, would not lead back.
 * @throws DelayTopologyError that lists the delays there are
 */
export function workRetryRoute(
  descriptor: WorkRetry,
  delayMs: number,
  routingKey: string,
): { exchange: string; routingKey: string } {
  const exchange = retryName(descriptor, checkDeclared("delayMs", delayMs, descriptor.delaysMs));
  const isBound = descriptor.patterns.some((pattern) => topicMatches(pattern, routingKey));
  return { exchange, routingKey: isBound ? routingKey : descriptor.name };
}

/**
 * Plans the work exchange and queue, an exchange and a queue for each retry delay that dead-letter to the work exchange with
 * the routing key kept, and the dead queue behind an exchange of its own.
 */
export function planWorkRetry(descriptor: WorkRetry): EntityPlan {
  const { name, patterns, deadQueue, queueType, atLeastOnce, rejected, delaysMs } = descriptor;
  const retries = delaysMs.map((delayMs) => ({ delayMs, name: retryName(descriptor, delayMs) }));
  const rejectedTo = rejected === "dead" ? deadQueue : (retries[0]?.name as string);
  const fanout = (exchange: string): EntityPlan["exchanges"][number] => ({
    name: exchange,
    type: "fanout",
    durable: true,
  });
  return {
    exchanges: [
      { name, type: "topic", durable: true },
      fanout(deadQueue),
      ...retries.map((retry) => fanout(retry.name)),
    ],
    queues: [
      { name: deadQueue, durable: true, arguments: { "x-queue-type": queueType } },
      ...retries.map((retry) => ({
        name: retry.name,
        durable: true as const,
        arguments: waitingArguments(descriptor, retry.delayMs, { exchange: name }),
      })),
      {
        name,
        durable: true,
        arguments: { "x-queue-type": queueType, ...deadLetterArguments(atLeastOnce, { exchange: rejectedTo }) },
      },
    ],
    bindings: [
      ...[deadQueue, ...retries.map((retry) => retry.name)].map((both) => bind(both, both, "")),
      ...boundKeys(patterns, name).map((key) => bind(name, name, key)),
    ],
  };
}

/** The patterns, and the queue's own name where they leave it out; see {@link workRetryRoute}. */
function boundKeys(patterns: string[], name: string): string[] {
  return patterns.some((pattern) => topicMatches(pattern, name)) ? patterns : [...patterns, name];
}

function bind(source: string, destination: string, routingKey: string): BindingPlan {
  return { source, destination, destinationType: "queue", routingKey };
}
