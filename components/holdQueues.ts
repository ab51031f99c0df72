import * as pulumi from "@pulumi/pulumi";
import { HoldQueues as HoldQueuesPlain, holdQueues, planHoldQueues } from "@rabbitmq-delay/topology";
import { deliveryLimitPolicies, readBeside } from "@rabbitmq-delay/topology/stack";
import { Declarer } from "./declare";
import { QueueType, Removal } from "./enums";
import { givenArguments } from "./knownArguments";
import { vhostOnceLooked } from "./look";
import { isReplaced, removalOptions } from "./removal";

/** Where held messages go when their time is over. */
export interface HoldDestinationArgs {
  /** An exchange, or an empty text for the broker's default exchange. It has to exist when the first message is due. */
  exchange: string;
  /** The routing key that messages get; on the default exchange, a queue's name. */
  routingKey: string;
}

/** Which durations and destinations there shall be hold queues for. */
export interface HoldQueuesArgs {
  /** Texts like `5m` or `PT5M`, or milliseconds; each once, in any order. */
  delays: any[]; // eslint-disable-line @typescript-eslint/no-explicit-any -- text or number: the schema takes no unions
  /** There is a queue for each of them with each delay. */
  destinations: HoldDestinationArgs[];
  /** Start of all names, default `hold`: letters, digits, dots, `_` and `-`. */
  prefix?: string;
  /** `classic` (default), or `quorum`, which goes without a lease. */
  queueType?: QueueType;
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /**
   * How long a queue stays after its last declare beyond its delay, in milliseconds; default: for ever.
   * The broker then deletes it **with the messages in it**, without dead-lettering them, so a lease is only for publishers that
   * declare the queue before each message, as `holdFor` does; any other publisher would lose messages. A refresh shows queues
   * whose lease is over as gone, and the next update declares them again.
   */
  leaseMs?: number;
  /** What happens to queues that leave the program: `retain` (default) or `delete`. */
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

/** Hold queues' descriptor in types that every Pulumi language has; its meaning is that of the pure core's `HoldQueues`. */
export interface HoldQueuesDescriptor {
  /** Always `hold-queues`. */
  kind: string;
  /** Version of the descriptor's format, 1. */
  version: number;
  /** What all names start with. */
  prefix: string;
  /** `quorum` or `classic`. */
  queueType: string;
  /** Whether a message leaves a queue only when the next one has confirmed it. */
  atLeastOnce: boolean;
  /** How long a queue stays after its last declare beyond its delay, in milliseconds. */
  leaseMs?: number;
  /** The durations, in milliseconds, ascending. */
  delaysMs: number[];
  /** The destinations. */
  destinations: HoldDestinationArgs[];
}

/**
 * One hold queue per duration and destination: a message that is published to it, by `holdFor` or by the queue's name, arrives
 * at the destination when the duration is over.
 * Throws a DelayTopologyError, before anything is made, that names the refused property, its value and what is allowed.
 * @example
 * ```ts
 * import { HoldQueues } from "pulumi-rabbitmq-delay";
 *
 * const holds = new HoldQueues("holds", {
 *   delays: ["1h", "1d"],
 *   destinations: [{ exchange: "orders", routingKey: "reminder.first" }],
 * });
 * export const holdQueues = holds.holdQueues;
 * ```
 */
export class HoldQueues extends pulumi.ComponentResource {
  /** The descriptor, for `holdFor` and for retries. */
  public readonly holdQueues: pulumi.Output<HoldQueuesDescriptor>;
  /** The descriptor as JSON text, for a service's environment and for other components and stacks. */
  public readonly holdQueuesJson: pulumi.Output<string>;

  constructor(name: string, args: HoldQueuesArgs, opts?: pulumi.ComponentResourceOptions) {
    const { vhost, removal, brokerVersion, ...shape } = givenArguments(args);
    const descriptor = readBeside(["vhost", "removal", "brokerVersion"], () => holdQueues(shape));
    const options = removalOptions(removal);
    const queues = planHoldQueues(descriptor);
    const policies = deliveryLimitPolicies(queues, { brokerVersion });
    super("rabbitmq-delay:index:HoldQueues", name, {}, opts);

    const place = vhostOnceLooked(this, vhost, { queues, policies, brokerVersion, replaceable: isReplaced(removal) });
    const declarer = new Declarer(name, place, { ...options, parent: this });
    const set = policies.map((policy) => declarer.policy(policy));
    const ready = queues.map((queue) => declarer.queue(queue, set).name);

    this.holdQueues = pulumi.all(ready).apply(() => toDescriptor(descriptor));
    this.holdQueuesJson = pulumi.jsonStringify(this.holdQueues);
    this.registerOutputs({ holdQueues: this.holdQueues, holdQueuesJson: this.holdQueuesJson });
  }
}

/** Fails to compile when the descriptor and the pure core's type drift apart. */
function toDescriptor(descriptor: HoldQueuesPlain): HoldQueuesDescriptor {
  return descriptor;
}
