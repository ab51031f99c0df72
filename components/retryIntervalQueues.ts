import * as pulumi from "@pulumi/pulumi";
import { RetryIntervals, RetryIntervalsOptions, planRetryIntervals, retryIntervals } from "rabbitmq-delay-topology";
import { Declarer, declareEntities } from "./declare";
import { QueueType, Removal } from "./enums";
import { removalOptions } from "./removal";

/** Which intervals there shall be queues for. */
export interface RetryIntervalQueuesArgs {
  /** Texts like `5m` or `PT5M`, or milliseconds; each once, in any order. */
  intervals: any[]; // eslint-disable-line @typescript-eslint/no-explicit-any -- text or number: the schema takes no unions
  /** Start of all names; default `mt-delay`, which is MassTransit's. */
  prefix?: string;
  /** `classic` (default, as MassTransit declares them) or `quorum`. */
  queueType?: QueueType;
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /**
   * What happens to an interval's exchange and queue when it leaves the program: `retain` (default) or `delete`. The
   * exchange by which messages come back always stays, because other stacks of the broker use it too.
   */
  removal?: Removal;
  /** The vhost; default `/`. */
  vhost?: pulumi.Input<string>;
}

/** Interval queues' descriptor in types that every Pulumi language has; its meaning is that of `RetryIntervals`. */
export interface RetryIntervalsDescriptor {
  /** Always `retry-intervals`. */
  kind: string;
  /** Version of the descriptor's format, 1. */
  version: number;
  /** What all names start with. */
  prefix: string;
  /** The direct exchange that brings a message back to the queue whose name is its routing key. */
  returnExchange: string;
  /** `quorum` or `classic`. */
  queueType: string;
  /** Whether a message leaves a queue only when the next one has confirmed it. */
  atLeastOnce: boolean;
  /** The intervals, in milliseconds, ascending. */
  intervalsMs: number[];
}

/**
 * Queues in which failed messages wait for fixed intervals, and the exchange that brings them back, as MassTransit's
 * queue-based redelivery declares them.
 * Throws a DelayTopologyError, before anything is made, that names the refused property, its value and what is allowed.
 */
export class RetryIntervalQueues extends pulumi.ComponentResource {
  /** The descriptor: export it from the stack, and give it to services and to other stacks' `EndpointDelayBinding`. */
  public readonly retryIntervals: pulumi.Output<RetryIntervalsDescriptor>;

  constructor(name: string, args: RetryIntervalQueuesArgs, opts?: pulumi.ComponentResourceOptions) {
    const { vhost, removal, ...shape } = args;
    const descriptor = retryIntervals(shape as RetryIntervalsOptions);
    const options = removalOptions(removal);
    super("rabbitmq-delay:index:RetryIntervalQueues", name, {}, opts);

    const own = new Declarer(name, vhost ?? "/", { ...options, parent: this });
    const shared = new Declarer(name, vhost ?? "/", { retainOnDelete: true, parent: this });
    const ready = declareEntities(planRetryIntervals(descriptor), ({ name: exchange }) =>
      exchange === descriptor.returnExchange ? shared : own,
    );

    this.retryIntervals = pulumi.all(ready).apply(() => toDescriptor(descriptor));
    this.registerOutputs({ retryIntervals: this.retryIntervals });
  }
}

/** Fails to compile when the descriptor and the pure core's type drift apart. */
function toDescriptor(descriptor: RetryIntervals): RetryIntervalsDescriptor {
  return descriptor;
}
