import { auditPart } from "@rabbitmq-delay/broker";
import {
  DelayTopologyError,
  RetryIntervals,
  RetryIntervalsOptions,
  WorkRetryOptions,
  planRetry,
  retryIntervals,
  workRetry,
} from "@rabbitmq-delay/topology";
import { adoptedWorkQueue, compareAdopted, topicMatches } from "@rabbitmq-delay/topology/stack";
import type { LiveVhost } from "./liveVhost";
import { Unplaced, differs, leftOut } from "./remark";

/** Work queues and interval queues of a vhost that are there exactly as a stack plans them. */
export interface FoundRetries {
  workQueues: WorkRetryOptions[];
  /** The interval queues, and what was declared so. */
  intervals?: { options: RetryIntervalsOptions; descriptor: RetryIntervals };
  /** The queues that get their failed messages back from the interval queues. */
  retried: string[];
  /** What seems to be such queues, and differs. */
  remarks: Unplaced[];
}

/** Finds work queues and interval queues by the names that a stack gives their queues, and by where those lead. */
export function findRetries(live: LiveVhost): FoundRetries {
  const remarks: Unplaced[] = [];
  const workQueues: WorkRetryOptions[] = [];
  for (const [queue, delays] of inOrder(live.numbered(/^(.+)\.retry-(\d+)$/s, (start) => start))) {
    // Many name queues like this; only a stack's have a dead queue along.
    if (!live.queues.has(`${queue}.dead`)) continue;
    const options = workQueueOf(queue, delays, live);
    const differences = [
      ...compare(`work queue ${queue}`, () => planRetry(workRetry(options)), live),
      ...strangersAt(options, live),
    ];
    if (differences.length === 0) workQueues.push(options);
    remarks.push(...differences);
  }
  const all: FoundRetries["intervals"][] = [];
  for (const [prefix, intervals] of inOrder(live.numbered(/^(.+)-(\d+)$/s, (start) => `${start}-return`))) {
    const options = intervalsOf(prefix, intervals, live);
    const differences = compare(`interval queues ${prefix}`, () => planRetry(retryIntervals(options)), live);
    if (differences.length === 0) all.push({ options, descriptor: retryIntervals(options) });
    remarks.push(...differences);
  }
  const [intervals, ...others] = all;
  for (const other of others) {
    const message =
      `interval queues ${other?.options.prefix} are as a stack declares them, and a config has one set; declare them as ` +
      "RetryIntervalQueues in a program of your own";
    remarks.push(leftOut(message));
  }
  if (intervals === undefined) return { workQueues, retried: [], remarks };
  return { workQueues, intervals, retried: retriedBy(intervals.descriptor, live), remarks };
}

function retriedBy(descriptor: RetryIntervals, live: LiveVhost): string[] {
  return live
    .from(descriptor.returnExchange)
    .filter(({ destination, destinationType, routingKey }) => destinationType === "queue" && routingKey === destination)
    .map(({ destination }) => destination);
}

function inOrder(found: Map<string, number[]>): [string, number[]][] {
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1));
}

function workQueueOf(queue: string, delays: number[], live: LiveVhost): WorkRetryOptions {
  const values = live.queues.get(`${queue}.retry-${delays[0]}`)?.arguments ?? {};
  const keys = live
    .from(queue)
    .filter(({ destination, destinationType }) => destination === queue && destinationType === "queue")
    .map(({ routingKey }) => routingKey);
  // The queue's own name is bound along where the patterns leave it out.
  const others = keys.filter((key) => key !== queue);
  const isAlong = others.length > 0 && !others.some((key) => topicMatches(key, queue));
  const patterns = isAlong ? others : keys;
  const rejected = live.targetOf(queue) === `${queue}.retry-${delays[0]}` ? { rejected: "retry" as const } : {};
  return {
    queue,
    delays,
    ...(patterns.join() === "#" || patterns.length === 0 ? {} : { patterns }),
    ...kindOf(values, "quorum"),
    ...rejected,
  };
}

function intervalsOf(prefix: string, intervals: number[], live: LiveVhost): RetryIntervalsOptions {
  const values = live.queues.get(`${prefix}-${intervals[0]}`)?.arguments ?? {};
  const parking = live.exchanges.has(`${prefix}-parking`) ? {} : { parking: false };
  return { prefix, intervals, ...kindOf(values, "classic"), ...parking };
}

/** The type of queues, and whether they dead-letter at least once, where that is not the default. */
function kindOf(
  values: Record<string, unknown>,
  usual: "quorum" | "classic",
): Pick<WorkRetryOptions, "queueType" | "atLeastOnce"> {
  const queueType = values["x-queue-type"] === "quorum" ? "quorum" : "classic";
  const isAtMostOnce = queueType === "quorum" && values["x-dead-letter-strategy"] !== "at-least-once";
  return { ...(queueType === usual ? {} : { queueType }), ...(isAtMostOnce ? { atLeastOnce: false } : {}) };
}

/** What a stack refuses beside the queues themselves: others' bindings at the work queue's exchange. */
function strangersAt(options: WorkRetryOptions, live: LiveVhost): Unplaced[] {
  const descriptor = workRetry(options);
  const { exchanges, queues, content } = live;
  const part = adoptedWorkQueue(descriptor, planRetry(descriptor), []);
  const { differences } = compareAdopted(part, { exchanges, queues, bindings: content.bindings });
  return differences
    .filter((difference) => difference.startsWith("the binding") && difference.includes("not in the plan"))
    .map((difference) => differs(`work queue ${descriptor.name}: left out, because ${difference}`));
}

function compare(subject: string, plan: () => ReturnType<typeof planRetry>, live: LiveVhost): Unplaced[] {
  try {
    const entities = plan();
    const policies = entities.policy === undefined ? [] : [entities.policy];
    return auditPart({ subject, entities, policies }, live.content).map(({ message }) =>
      differs(`${subject}: left out, because ${message}`),
    );
  } catch (error) {
    if (!(error instanceof DelayTopologyError)) throw error;
    return [differs(`${subject}: left out, because ${error.message}`)];
  }
}
