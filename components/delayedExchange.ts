import * as pulumi from "@pulumi/pulumi";
import {
  DelayedExchange as DelayedExchangePlain,
  delayedExchange,
  delayedExchangeSteps,
  planDelayedExchange,
} from "@rabbitmq-delay/topology";
import { deliveryLimitPolicies, readBeside } from "@rabbitmq-delay/topology/stack";
import { Declarer, declareSteps } from "./declare";
import { DeliveryType, QueueType, Removal } from "./enums";
import { givenArguments } from "./knownArguments";
import { vhostOnceLooked } from "./look";
import { isReplaced, removalOptions } from "./removal";

/** An exchange that delays what is published to it with the header `x-delay`, by plain topology. */
export interface DelayedExchangeArgs {
  /** What publishers publish to, with the header `x-delay` in milliseconds; start of all other names. */
  exchange: string;
  /** The delays that messages may ask for: texts like `5m` or `PT5M`, or milliseconds; each once, in any order, at most 300. */
  delays: any[]; // eslint-disable-line @typescript-eslint/no-explicit-any -- text or number: the schema takes no unions
  /**
   * Where messages go when their time is over, under their own routing key; default `EXCHANGE.delivery`. Bind queues here, and none to
   * `exchange`, where they would get each message at once.
   */
  delivery?: string;
  /** Type of the delivery exchange, as `x-delayed-type` was: `topic` (default), `direct`, `fanout` or `headers`. */
  type?: DeliveryType;
  /** Whether the delivery exchange is declared along, default true; false where it belongs to others. What it takes to no queue is then not parked. */
  declareDelivery?: boolean;
  /** Type of the queues that messages wait in: `quorum` (default) or `classic`. */
  queueType?: QueueType;
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /**
   * An exchange that gets what has another delay, or none, as the intake of a store. It has to be there; where this program declares it, give
   * that resource in `dependsOn`. Default: a parking queue, `EXCHANGE.parking`.
   */
  otherwise?: string;
  /** What happens to exchanges and queues that leave the program: `retain` (default) or `delete`, with the messages in them. */
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

/** A delayed exchange's descriptor in types that every Pulumi language has; its meaning is that of the pure core's `DelayedExchange`. */
export interface DelayedExchangeDescriptor {
  /** Always `delayed-exchange`. */
  kind: string;
  /** Version of the descriptor's format, 1. */
  version: number;
  /** What publishers publish to. */
  exchange: string;
  /** Where messages go when their time is over; queues are bound here. */
  delivery: string;
  /** Type of the delivery exchange, where it is declared along. */
  type?: string;
  /** The declared delays, in milliseconds, ascending. */
  delaysMs: number[];
  /** `quorum` or `classic`. */
  queueType: string;
  /** Whether a message leaves a queue only when the next one has confirmed it. */
  atLeastOnce: boolean;
  /** The exchange of others that gets what has another delay, or none; without one, that is parked. */
  otherwise?: string;
  /** The exchange and the queue, of one name, for what nobody takes. */
  parkingQueue: string;
}

/**
 * An exchange for publishers that delayed with the delayed-message plugin: a message with a header `x-delay` of a declared delay waits in the
 * queue of that delay, and then goes to the delivery exchange under its own routing key; one with 0 goes there at once. What has another
 * delay, or none, goes where `otherwise` says.
 * Throws a DelayTopologyError, before anything is made, that names the refused property, its value and what is allowed.
 * @example
 * ```ts
 * import { DelayedExchange } from "pulumi-rabbitmq-delay";
 *
 * const orders = new DelayedExchange("orders", { exchange: "orders", delays: ["5s", "1m"], type: "topic" });
 * export const delayedExchange = orders.delayedExchange;
 * ```
 */
export class DelayedExchange extends pulumi.ComponentResource {
  /** The descriptor, known when messages can be published and queues be bound. */
  public readonly delayedExchange: pulumi.Output<DelayedExchangeDescriptor>;
  /** The descriptor as JSON text, for a service's environment and for other components and stacks. */
  public readonly delayedExchangeJson: pulumi.Output<string>;

  constructor(name: string, args: DelayedExchangeArgs, opts?: pulumi.ComponentResourceOptions) {
    const { vhost, removal, brokerVersion, ...shape } = givenArguments(args);
    const descriptor = readBeside(["vhost", "removal", "brokerVersion"], () => delayedExchange(shape));
    const options = removalOptions(removal);
    const { policies: own, ...plan } = planDelayedExchange(descriptor);
    const limits = deliveryLimitPolicies(plan.queues, { brokerVersion }, own);
    super("rabbitmq-delay:index:DelayedExchange", name, {}, opts);

    const wanted = {
      ...plan,
      delayedExchange: descriptor,
      policies: [...own, ...limits],
      brokerVersion,
      replaceable: isReplaced(removal),
    };
    // The engine makes a component wait for what it depends on, and not what is in it.
    const waiting = { ...options, parent: this, dependsOn: opts?.dependsOn };
    const looked = new Declarer(name, vhostOnceLooked(this, vhost, wanted), waiting);
    const declarer = looked.after(looked.checkPlan(plan));
    const ready = declareSteps(delayedExchangeSteps(descriptor), declarer, limits);

    this.delayedExchange = pulumi.all(ready).apply(() => toDescriptor(descriptor));
    this.delayedExchangeJson = pulumi.jsonStringify(this.delayedExchange);
    this.registerOutputs({ delayedExchange: this.delayedExchange, delayedExchangeJson: this.delayedExchangeJson });
  }
}

/** Fails to compile when the descriptor and the pure core's type drift apart. */
function toDescriptor(descriptor: DelayedExchangePlain): DelayedExchangeDescriptor {
  return descriptor;
}
