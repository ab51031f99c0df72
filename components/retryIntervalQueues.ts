import * as pulumi from "@pulumi/pulumi";
import { PolicyPlan, RetryIntervals, planRetryIntervals, retryIntervals } from "@rabbitmq-delay/topology";
import { deliveryLimitPolicies, readBeside } from "@rabbitmq-delay/topology/stack";
import { Declarer, declareEntities } from "./declare";
import { QueueType, Removal } from "./enums";
import { givenArguments } from "./knownArguments";
import { vhostOnceLooked } from "./look";
import { isReplaced, removalOptions } from "./removal";

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
   * Whether messages that come back to no queue, because none is bound under their queue's name, are kept in a queue `PREFIX-parking`;
   * default true. A policy on the return exchange does it, so the deployer needs the tag `policymaker`.
   * False takes nothing away that is there: exchange, queue and policy `PREFIX-parking` stay on the broker, because other stacks may rely
   * on them, and go on parking until somebody clears that policy (`rabbitmqctl clear_policy`) and deletes the other two by hand.
   */
  parking?: boolean;
  /**
   * What happens to an interval's exchange and queue when it leaves the program: `retain` (default) or `delete`. The
   * exchange by which messages come back and its parking always stay, because other stacks of the broker use them too.
   */
  removal?: Removal;
  /** The vhost; default `/`. */
  vhost?: pulumi.Input<string>;
  /**
   * The broker's version where the program knows it, e.g. `4.3.6`. From 4.0 a policy lifts the delivery limit that each quorum
   * queue has there (20); before 4.0 there is none to lift. Default: not known, and the limit is set, by policy, so high
   * (2,147,483,647) that no message reaches it, which brokers of all versions take.
   */
  brokerVersion?: string;
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
  /** The exchange that takes what comes back to no queue. */
  parkingExchange?: string;
  /** The queue that keeps it. */
  parkingQueue?: string;
}

/**
 * Queues in which failed messages wait for fixed intervals, and the exchange that brings them back, as MassTransit's
 * queue-based redelivery declares them.
 * Throws a DelayTopologyError, before anything is made, that names the refused property, its value and what is allowed.
 * @example
 * ```ts
 * import { EndpointDelayBinding, RetryIntervalQueues } from "pulumi-rabbitmq-delay";
 *
 * const { retryIntervals } = new RetryIntervalQueues("retries", { intervals: ["10s", "15m"] });
 * new EndpointDelayBinding("billing", { endpoint: "Billing", createQueue: true, retryIntervals });
 * ```
 */
export class RetryIntervalQueues extends pulumi.ComponentResource {
  /** The descriptor: export it from the stack, and give it to services and to other stacks' `EndpointDelayBinding`. */
  public readonly retryIntervals: pulumi.Output<RetryIntervalsDescriptor>;
  /** The descriptor as JSON text, for a service's environment and for other components and stacks. */
  public readonly retryIntervalsJson: pulumi.Output<string>;

  constructor(name: string, args: RetryIntervalQueuesArgs, opts?: pulumi.ComponentResourceOptions) {
    const { vhost, removal, brokerVersion, ...shape } = givenArguments(args);
    const descriptor = readBeside(["vhost", "removal", "brokerVersion"], () => retryIntervals(shape));
    const options = removalOptions(removal);
    const { policy: parking, ...entities } = planRetryIntervals(descriptor);
    const { returnExchange, parkingExchange, parkingQueue } = descriptor;
    const stays = ({ name: entity }: { name: string }): boolean =>
      [returnExchange, parkingExchange, parkingQueue].includes(entity);
    const limitsOf = (queues: typeof entities.queues): PolicyPlan[] => deliveryLimitPolicies(queues, { brokerVersion });
    const ownLimits = limitsOf(entities.queues.filter((planned) => !stays(planned)));
    const sharedPolicies = [...(parking === undefined ? [] : [parking]), ...limitsOf(entities.queues.filter(stays))];
    super("rabbitmq-delay:index:RetryIntervalQueues", name, {}, opts);

    const place = vhostOnceLooked(this, vhost, {
      ...entities,
      policies: [...sharedPolicies, ...ownLimits],
      brokerVersion,
      replaceable: isReplaced(removal),
    });
    const looked = new Declarer(name, place, { ...options, parent: this });
    const checked = looked.checkPlan({
      exchanges: entities.exchanges.filter((exchange) => !stays(exchange)),
      queues: entities.queues.filter((queue) => !stays(queue)),
      bindings: entities.bindings.filter(({ source }) => !stays({ name: source })),
    });
    const own = looked.after(checked);
    const shared = new Declarer(name, place, { retainOnDelete: true, parent: this }).after(checked);
    const policies = [
      ...ownLimits.map((policy) => own.policy(policy)),
      ...sharedPolicies.map((policy) => shared.policy(policy)),
    ];
    const ready = declareEntities(entities, (entity) => (stays(entity) ? shared : own), policies);

    this.retryIntervals = pulumi.all(ready).apply(() => toDescriptor(descriptor));
    this.retryIntervalsJson = pulumi.jsonStringify(this.retryIntervals);
    this.registerOutputs({ retryIntervals: this.retryIntervals, retryIntervalsJson: this.retryIntervalsJson });
  }
}

/** Fails to compile when the descriptor and the pure core's type drift apart. */
function toDescriptor(descriptor: RetryIntervals): RetryIntervalsDescriptor {
  return descriptor;
}
