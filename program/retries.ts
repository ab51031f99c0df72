import * as pulumi from "@pulumi/pulumi";
import {
  DelayedRetryQueue,
  HoldQueues,
  RetryIntervalQueues,
  RetryIntervalsDescriptor,
  WorkRetryQueues,
} from "pulumi-rabbitmq-delay";
import type { StackBroker } from "./broker";
import type { ProgramConfig } from "./config";

/** What was declared for retries. */
export interface DeclaredRetries {
  /** For endpoints that get their failed messages back. */
  retryIntervals: pulumi.Output<RetryIntervalsDescriptor> | undefined;
  /** Stack outputs: descriptors, those of single queues by the queue's name. */
  outputs: Record<string, unknown>;
  /** Names of the declared work queues, known when the queue is there, for endpoints that are such queues. */
  queues: Map<string, pulumi.Output<string>>;
}

/** Declares what the config says of retries. */
export function declareRetries(
  config: ProgramConfig,
  { address: broker, vhost, brokerVersion }: Pick<StackBroker, "address" | "vhost" | "brokerVersion">,
  opts: pulumi.ComponentResourceOptions,
): DeclaredRetries {
  const { removal } = config;
  const common = { vhost, removal, brokerVersion };
  const intervals =
    config.retryIntervals && new RetryIntervalQueues("retries", { ...config.retryIntervals, ...common }, opts);
  const work = config.workQueues.map((shape) => ({
    queue: shape.queue,
    descriptor: new WorkRetryQueues(shape.queue, { ...shape, ...common }, opts).workRetry,
  }));
  const holds = config.holdQueues && new HoldQueues("holds", { ...config.holdQueues, ...common }, opts);
  const delayed = config.delayedRetryQueues.map((shape) => ({
    queue: shape.queue,
    descriptor: new DelayedRetryQueue(shape.queue, { ...shape, vhost, removal, broker }, opts).delayedRetry,
  }));
  return {
    retryIntervals: intervals?.retryIntervals,
    outputs: {
      ...(intervals && { retryIntervals: intervals.retryIntervals }),
      ...(work.length > 0 && { workRetries: byQueue(work) }),
      ...(holds && { holdQueues: holds.holdQueues }),
      ...(delayed.length > 0 && { delayedRetries: byQueue(delayed) }),
    },
    queues: new Map([
      ...work.map(({ queue, descriptor }) => [queue, descriptor.name] as const),
      ...delayed.map(({ queue, descriptor }) => [queue, descriptor.queue] as const),
    ]),
  };
}

function byQueue(declared: { queue: string; descriptor: unknown }[]): Record<string, unknown> {
  return Object.fromEntries(declared.map(({ queue, descriptor }) => [queue, descriptor]));
}
