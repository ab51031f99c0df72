import * as pulumi from "@pulumi/pulumi";
import { planErrorQueues } from "@rabbitmq-delay/topology";
import { deliveryLimitPolicies, readBeside } from "@rabbitmq-delay/topology/stack";
import { Declarer, declareEntities } from "./declare";
import { QueueType, Removal } from "./enums";
import { givenArguments } from "./knownArguments";
import { vhostOnceLooked } from "./look";
import { isReplaced, removalOptions } from "./removal";

/** Queues that many services share, as NServiceBus's `error` and `audit`. */
export interface ErrorQueuesArgs {
  /** Names of the queues and of their exchanges, each once, e.g. `error` and `audit`. */
  names: string[];
  /** `quorum` (default) or `classic`, which is declared without a type, as NServiceBus does. */
  queueType?: QueueType;
  /** What happens to exchanges and queues that leave the program: `retain` (default) or `delete`, with all services' messages in them. */
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

/**
 * Queues that many services share, each behind a fanout exchange of its name, declared once by the broker's stack. Services then leave
 * `errorQueue` out of their `EndpointDelayBinding`, and give it to their `EndpointUser`, which may write to the exchange.
 * Throws a DelayTopologyError, before anything is made, that names the refused property, its value and what is allowed.
 * @example
 * ```ts
 * import { ErrorQueues } from "pulumi-rabbitmq-delay";
 *
 * new ErrorQueues("errors", { names: ["error", "audit"] });
 * ```
 */
export class ErrorQueues extends pulumi.ComponentResource {
  /** The names, known when exchanges, queues and bindings are there. */
  public readonly names: pulumi.Output<string[]>;

  constructor(name: string, args: ErrorQueuesArgs, opts?: pulumi.ComponentResourceOptions) {
    const { vhost, removal, brokerVersion, ...shape } = givenArguments(args);
    const plan = readBeside(["vhost", "removal", "brokerVersion"], () => planErrorQueues(shape));
    const { names } = shape;
    const options = removalOptions(removal);
    const policies = deliveryLimitPolicies(plan.queues, { brokerVersion });
    super("rabbitmq-delay:index:ErrorQueues", name, {}, opts);

    const wanted = { ...plan, errorQueues: names, policies, brokerVersion, replaceable: isReplaced(removal) };
    const looked = new Declarer(name, vhostOnceLooked(this, vhost, wanted), { ...options, parent: this });
    const declarer = looked.after(looked.checkPlan(plan));
    const set = policies.map((policy) => declarer.policy(policy));
    const ready = declareEntities(plan, () => declarer, set, names);

    this.names = pulumi.all(ready).apply(() => [...names]);
    this.registerOutputs({ names: this.names });
  }
}
