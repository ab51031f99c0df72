import * as pulumi from "@pulumi/pulumi";
import { checkVersion } from "@rabbitmq-delay/broker";
import {
  DelayedRetry,
  DelayTopologyError,
  delayedRetry,
  delayedRetryVersion,
  planDelayedRetry,
} from "@rabbitmq-delay/topology";
import { deliveryLimitPolicies, readBeside } from "@rabbitmq-delay/topology/stack";
import type { BrokerAddressArgs } from "./brokerAddress";
import { Declarer } from "./declare";
import { DelayedRetrySettings, DelayedRetryType, Removal } from "./enums";
import { givenArguments } from "./knownArguments";
import { vhostOnceLooked } from "./look";
import { checkedLater, secretTexts, withoutTexts } from "./laterValues";
import { addressOutput, hasAddress, settingsOf } from "./providerAddress";
import { isReplaced, removalOptions } from "./removal";

/** A quorum queue whose failed messages the broker itself delays. */
export interface DelayedRetryQueueArgs {
  /** Name of the queue. */
  queue: string;
  /**
   * The broker, which is asked for its version in each preview: those before 4.3.0 (4.3.1 for a policy) take the settings
   * without a word and don't delay. Default: that of the component's provider. It has to be given where that can't be asked: for a
   * provider of a program in another language, behind a proxy, or with a client's certificate.
   */
  broker?: pulumi.Input<BrokerAddressArgs>;
  /** `failed` (default), `returned` or `all`. */
  type?: DelayedRetryType;
  /** Delay of the first redelivery, in milliseconds; the nth is n times as long. */
  minMs: number;
  /** Longest delay, in milliseconds; default: `minMs` times `deliveryLimit`. */
  maxMs?: number;
  /** Failures before a message is dead-lettered; default 20. */
  deliveryLimit?: number;
  /** Where messages over the limit go; default: a queue `QUEUE.dead`, which is declared along. */
  deadLetterExchange?: string;
  /** The key that they get there; default: the one they have. */
  deadLetterRoutingKey?: string;
  /** `arguments` (default), or `policy`, which can be changed without a new queue, from 4.3.1. */
  settings?: DelayedRetrySettings;
  /** What happens to queues that leave the program: `retain` (default) or `delete`. */
  removal?: Removal;
  /** The vhost; default `/`. */
  vhost?: pulumi.Input<string>;
}

/** A delayed retry queue's descriptor in types that every Pulumi language has; its meaning is that of `DelayedRetry`. */
export interface DelayedRetryDescriptor {
  /** Always `delayed-retry`. */
  kind: string;
  /** Version of the descriptor's format, 1. */
  version: number;
  /** Name of the queue. */
  queue: string;
  /** `failed`, `returned` or `all`. */
  type: string;
  /** Delay of the first redelivery, in milliseconds. */
  minMs: number;
  /** Longest delay, in milliseconds. */
  maxMs: number;
  /** Failures before a message is dead-lettered. */
  deliveryLimit: number;
  /** Where messages over the limit go; empty for the default exchange. */
  deadLetterExchange: string;
  /** The key that they get there. */
  deadLetterRoutingKey?: string;
  /** The dead queue that was declared along. */
  deadQueue?: string;
  /** `arguments` or `policy`. */
  settings: string;
}

/**
 * A quorum queue with RabbitMQ 4.3's delayed retry, and a dead queue for what failed too often.
 * Throws a DelayTopologyError, before anything is made, that names the refused property, its value and what is allowed; a
 * broker that is too old fails the preview.
 * @example
 * ```ts
 * import { DelayedRetryQueue } from "pulumi-rabbitmq-delay";
 *
 * const invoices = new DelayedRetryQueue("invoices", { queue: "invoices", minMs: 10_000, maxMs: 300_000, deliveryLimit: 5 });
 * export const delayedRetry = invoices.delayedRetry;
 * ```
 */
export class DelayedRetryQueue extends pulumi.ComponentResource {
  /** The descriptor, for the service that consumes the queue. */
  public readonly delayedRetry: pulumi.Output<DelayedRetryDescriptor>;
  /** The descriptor as JSON text, for a service's environment and for other components and stacks. */
  public readonly delayedRetryJson: pulumi.Output<string>;

  constructor(name: string, args: DelayedRetryQueueArgs, opts?: pulumi.ComponentResourceOptions) {
    const { vhost, removal, broker, ...shape } = givenArguments(args);
    const descriptor = readBeside(["vhost", "removal", "broker"], () => delayedRetry(shape));
    const options = removalOptions(removal);
    if (broker !== undefined) checkBroker(broker);
    super("rabbitmq-delay:index:DelayedRetryQueue", name, {}, opts);
    const provider = this.getProvider("rabbitmq:index/exchange:Exchange");
    const asked = broker ?? brokerOf(provider);

    const { queues, policy } = planDelayedRetry(descriptor);
    const own = policy === undefined ? [] : [policy];
    // Older brokers are refused, so all that are left have a limit to lift.
    const limits = deliveryLimitPolicies(queues, { brokerVersion: delayedRetryVersion(descriptor) }, own);
    const looked = vhostOnceLooked(this, vhost, {
      queues,
      policies: [...own, ...limits],
      endpointQueues: [descriptor.queue],
      errorQueues: descriptor.deadQueue === undefined ? [] : [descriptor.deadQueue],
      replaceable: isReplaced(removal),
    });
    const settings = broker === undefined ? settingsOf(provider) : broker;
    const checkedVhost = pulumi.all([looked, newEnough(asked, descriptor, settings)]).apply(([checked]) => checked);
    const declarer = new Declarer(name, checkedVhost, { ...options, parent: this });
    const set = [...own, ...limits].map((plan) => declarer.policy(plan));
    const ready = queues.map((queue) => declarer.queue(queue, set).name);

    this.delayedRetry = pulumi.all(ready).apply(() => toDescriptor(descriptor));
    this.delayedRetryJson = pulumi.jsonStringify(this.delayedRetry);
    this.registerOutputs({ delayedRetry: this.delayedRetry, delayedRetryJson: this.delayedRetryJson });
  }
}

/** The broker of a provider; a preview that does not know its address yet does not wait for it. */
function brokerOf(provider: pulumi.ProviderResource | undefined): pulumi.Output<BrokerAddressArgs> {
  const unasked = (): never => {
    const rule =
      "its provider can't be asked from here, so it must say where the broker is, because older ones don't delay";
    throw new DelayTopologyError("broker", undefined, rule);
  };
  if (!hasAddress(provider)) unasked();
  return checkedLater(addressOutput(provider), (address) => address ?? unasked()) as pulumi.Output<BrokerAddressArgs>;
}

/** @throws DelayTopologyError where it does not say where the broker is, which is asked for its version */
function checkBroker(broker: unknown): void {
  if (typeof broker !== "object" || broker === null || Array.isArray(broker))
    throw new DelayTopologyError("broker", broker, "it must say where the broker is, because older ones don't delay");
  if (pulumi.Output.isInstance(broker) || broker instanceof Promise) return;
  const given = broker as Record<string, unknown>;
  const missing = ["managementUrl", "username", "password"].find((part) => (given[part] ?? undefined) === undefined);
  if (missing !== undefined) throw new DelayTopologyError(`broker.${missing}`, given[missing], "it must be a text");
}

/**
 * Resolves when the broker is known to heed the settings, also in a preview.
 * @param settings what the address is made of; what of it is secret is in no message
 */
function newEnough(
  broker: pulumi.Input<BrokerAddressArgs>,
  descriptor: DelayedRetry,
  settings: object,
): pulumi.Output<string> {
  const need = { version: delayedRetryVersion(descriptor), reason: `the delayed retry of queue ${descriptor.queue}` };
  const checked = checkedLater(broker, (address) => {
    checkBroker(address);
    return givenArguments(address);
  });
  const parts = pulumi.Output.isInstance(settings) ? [settings] : Object.values(settings);
  // A version is no secret, though the password of who asks for it is one.
  return pulumi.unsecret(
    checked.apply(async (address) => {
      const hidden = await secretTexts(parts);
      return checkVersion(address, [need]).catch((error: unknown) => {
        throw withoutTexts(error, hidden);
      });
    }),
  );
}

/** Fails to compile when the descriptor and the pure core's type drift apart. */
function toDescriptor(descriptor: DelayedRetry): DelayedRetryDescriptor {
  return descriptor;
}
