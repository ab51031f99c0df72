import * as pulumi from "@pulumi/pulumi";
import { WorkRetry, planWorkRetry, workRetry } from "@rabbitmq-delay/topology";
import { adoptedWorkQueue, deliveryLimitPolicies, readBeside } from "@rabbitmq-delay/topology/stack";
import { checkFlag } from "./checks";
import { Declarer, declareEntities } from "./declare";
import { QueueType, Rejection, Removal } from "./enums";
import { givenArguments } from "./knownArguments";
import { vhostOnceLooked } from "./look";
import { isReplaced, removalOptions } from "./removal";

/** A work queue, and how what fails in it is tried again. */
export interface WorkRetryQueuesArgs {
  /** Name of the work queue and of its topic exchange; retry queues are `NAME.retry-MS`, the dead queue is `NAME.dead`. */
  queue: string;
  /** Retry delays: texts like `5m` or `PT5M`, or milliseconds; each once, in any order. */
  delays: any[]; // eslint-disable-line @typescript-eslint/no-explicit-any -- text or number: the schema takes no unions
  /**
   * Most returns of a message before it goes to the dead queue; without effect on what a consumer rejects under `rejected: retry`;
   * default: once for each delay.
   */
  maxRetries?: number;
  /**
   * Binding keys of the work queue at its exchange; default `#`, every message. The exchange is the work queue's own: a queue
   * of yours that is bound to it too would get each retried message again.
   */
  patterns?: string[];
  /** `quorum` (default) or `classic`. */
  queueType?: QueueType;
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /**
   * Destination of what a consumer of the work queue rejects: `dead` (default), or `retry` for consumers without this project's
   * helper, which then have to count the rounds themselves. With `retry`, messages that reach the queue other than by its exchange
   * need a key that `patterns` match, or they find no way back.
   */
  rejected?: Rejection;
  /** What happens to exchanges and queues that leave the program: `retain` (default) or `delete`. */
  removal?: Removal;
  /**
   * Whether exchange and queues may be there already: they then come under the stack as they are, with their messages. What differs is
   * named before anything is made. Default false; it may stay.
   */
  adopt?: boolean;
  /** The vhost; default `/`. */
  vhost?: pulumi.Input<string>;
  /**
   * The broker's version where the program knows it, e.g. `4.3.6`. From 4.0 a policy lifts the delivery limit that each quorum
   * queue has there (20); before 4.0 there is none to lift. Default: not known, and the limit is set, by policy, so high
   * (2,147,483,647) that no message reaches it, which brokers of all versions take.
   */
  brokerVersion?: string;
}

/** A work queue's descriptor in types that every Pulumi language has; its meaning is that of `WorkRetry`. */
export interface WorkRetryDescriptor {
  /** Always `work-retry`. */
  kind: string;
  /** Version of the descriptor's format, 1. */
  version: number;
  /** Name of the work queue and of its exchange. */
  name: string;
  /** Binding keys of the work queue at its exchange. */
  patterns: string[];
  /** `quorum` or `classic`. */
  queueType: string;
  /** Whether a message leaves a queue only when the next one has confirmed it. */
  atLeastOnce: boolean;
  /** `dead` or `retry`. */
  rejected: string;
  /** The retry delays, in milliseconds, ascending. */
  delaysMs: number[];
  /** How often a message may come back. */
  maxRetries: number;
  /** The queue for what used up its retries. */
  deadQueue: string;
}

/**
 * A work queue with its exchange, a queue for each retry delay that brings messages back under the routing key that they had,
 * and a dead queue for what used up its retries.
 * Throws a DelayTopologyError, before anything is made, that names the refused property, its value and what is allowed.
 * @example
 * ```ts
 * import { WorkRetryQueues } from "pulumi-rabbitmq-delay";
 *
 * const work = new WorkRetryQueues("invoices", { queue: "invoices", delays: ["10s", "5m"], maxRetries: 5 });
 * export const workRetry = work.workRetry;
 * ```
 */
export class WorkRetryQueues extends pulumi.ComponentResource {
  /** The descriptor, for the service that consumes the work queue. */
  public readonly workRetry: pulumi.Output<WorkRetryDescriptor>;
  /** The descriptor as JSON text, for a service's environment and for other components and stacks. */
  public readonly workRetryJson: pulumi.Output<string>;

  constructor(name: string, args: WorkRetryQueuesArgs, opts?: pulumi.ComponentResourceOptions) {
    const { vhost, removal, brokerVersion, adopt, ...shape } = givenArguments(args);
    checkFlag("adopt", adopt);
    const descriptor = readBeside(["vhost", "removal", "brokerVersion", "adopt"], () => workRetry(shape));
    const options = removalOptions(removal);
    const plan = planWorkRetry(descriptor);
    const policies = deliveryLimitPolicies(plan.queues, { brokerVersion });
    super("rabbitmq-delay:index:WorkRetryQueues", name, {}, opts);

    const wanted = {
      ...plan,
      policies,
      brokerVersion,
      adopted: adopt === true ? adoptedWorkQueue(descriptor, plan, policies) : undefined,
      endpointQueues: [descriptor.name],
      errorQueues: [descriptor.deadQueue],
      replaceable: isReplaced(removal),
    };
    const looked = new Declarer(name, vhostOnceLooked(this, vhost, wanted), { ...options, parent: this });
    const declarer = looked.after(looked.checkPlan(plan));
    const set = policies.map((policy) => declarer.policy(policy));
    const ready = declareEntities(plan, () => declarer, set, [descriptor.name]);

    this.workRetry = pulumi.all(ready).apply(() => toDescriptor(descriptor));
    this.workRetryJson = pulumi.jsonStringify(this.workRetry);
    this.registerOutputs({ workRetry: this.workRetry, workRetryJson: this.workRetryJson });
  }
}

/** Fails to compile when the descriptor and the pure core's type drift apart. */
function toDescriptor(descriptor: WorkRetry): WorkRetryDescriptor {
  return descriptor;
}
