import { PolicyPlan, QueuePlan, escapeRegex } from "../entities";
import { DelayTopologyError } from "../errors";
import type { DelayNetwork } from "../network/delayNetwork";
import { levelQueueName } from "../network/levels";
import { checkBrokerVersion, isAtLeast, isBrokerVersion } from "../version";
import { heededByAll, heededByQuorum } from "./policyScope";

/** What is known of the broker whose delivery limits are lifted. */
export interface DeliveryLimitOptions {
  /** Its version, e.g. `4.3.6`; undefined where nobody knows it. */
  brokerVersion?: string;
}

/**
 * From this version on a quorum queue has a delivery limit of 20 by itself, and no limit can be asked for by −1. RabbitMQ 3.10
 * refuses a policy with −1, and doesn't know the range `quorum_queues` (measured on 3.10.8 and 4.3.6).
 */
const FIRST_WITH_LIMIT = "4.0";
/** No limit at all, from 4.0. */
const NONE = -1;
/** As good as none, and taken by every broker: where its version is not known. */
const OUT_OF_REACH = 2_147_483_647;
/** The one limit with which an endpoint of NServiceBus starts; source: NServiceBus.RabbitMQ's queue checks. */
export const NSERVICEBUS_LIMIT = 100_000;

/** Above the 0 that a catch-all policy has unless somebody thought about it, as the parking policy's. */
const PRIORITY = 100;
/** What NServiceBus declares its own policy with, so that neither of the two ever changes the other's. */
const NSERVICEBUS_PRIORITY = 0;

/**
 * Plans the policies that keep RabbitMQ 4 from losing messages by counting: a quorum queue drops or dead-letters a message
 * after 20 deliveries that nobody settled, and a consumer that is killed often enough loses healthy messages so. By policy,
 * since an argument would replace the queue with the messages in it. One for each queue, so that a queue that stays on the
 * broker when it leaves the program keeps its policy.
 * Queues are left out that count on purpose (`x-delivery-limit`), have another policy of ours, or are not quorum queues.
 * @param own policies of ours that set more for a queue; only one policy applies to it
 * @returns none for a broker before 4.0, which has no limit unless somebody sets one
 * @throws DelayTopologyError for a `brokerVersion` that is none
 */
export function deliveryLimitPolicies(
  queues: readonly QueuePlan[],
  options: DeliveryLimitOptions,
  own: readonly PolicyPlan[] = [],
): PolicyPlan[] {
  if (!mayHaveDeliveryLimit(options)) return [];
  return queues
    .filter(isCounted)
    .filter(({ name }) => !own.some(({ applyTo, pattern }) => applyTo !== "exchanges" && matches(pattern, name)))
    .map(({ name }) => lifted(`${name}.delivery-limit`, `^${escapeRegex(name)}$`, options));
}

/**
 * The policy for a queue that NServiceBus consumes: an endpoint refuses to start with any other limit than 100,000, and with
 * any policy that sets none. It is the same as the one that NServiceBus declares where it may.
 */
export function nserviceBusLimitPolicy(queue: string, { brokerVersion }: DeliveryLimitOptions): PolicyPlan {
  return {
    name: `nsb.${queue}.delivery-limit`,
    pattern: `^${escapeRegex(queue)}$`,
    applyTo: brokerVersion === undefined ? "queues" : "quorum_queues",
    priority: NSERVICEBUS_PRIORITY,
    definition: { "delivery-limit": NSERVICEBUS_LIMIT },
  };
}

/** Settings of the policy of an endpoint's own queue. */
export interface EndpointLimitOptions extends DeliveryLimitOptions {
  /** Further keys of that policy, because only one policy applies to a queue; default: none. */
  queuePolicy?: Record<string, unknown>;
}

/**
 * Plans the policies of an endpoint's own queue, see {@link deliveryLimitPolicies}.
 * @param preset of the network that the endpoint is bound to; undefined without one
 * @throws DelayTopologyError for a key with a value that no policy has, and for another limit than the one with which NServiceBus starts
 */
export function endpointLimitPolicies(
  queue: QueuePlan,
  preset: DelayNetwork["preset"] | undefined,
  options: EndpointLimitOptions,
): PolicyPlan[] {
  const limits = deliveryLimitPolicies([queue], options).map((policy) =>
    isNServiceBus(preset) ? nserviceBusLimitPolicy(queue.name, options) : policy,
  );
  const further = Object.entries(options.queuePolicy ?? {});
  if (further.length === 0) return limits;
  for (const [key, value] of further) checkKey(key, value, queue, preset);
  const [limit = bareLimit(queue.name)] = limits;
  const definition = { ...limit.definition, ...Object.fromEntries(further) } as PolicyPlan["definition"];
  return [{ ...limit, priority: PRIORITY, definition }];
}

/** What the broker takes for each key that queues heed: one that it does not heed switches the whole policy off (measured on 3.10.8 and 4.3.6). */
const ALLOWED: Record<string, (value: unknown) => string | undefined> = {
  "message-ttl": wholeFrom(0),
  expires: wholeFrom(1),
  "max-length": wholeFrom(0),
  "max-length-bytes": wholeFrom(0),
  "delivery-limit": wholeFrom(0),
  overflow: oneOfTexts(["drop-head", "reject-publish", "reject-publish-dlx"]),
  "dead-letter-strategy": oneOfTexts(["at-most-once", "at-least-once"]),
  "dead-letter-exchange": plainText,
  "dead-letter-routing-key": plainText,
};

function wholeFrom(least: number): (value: unknown) => string | undefined {
  return (value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= least
      ? undefined
      : `it must be a whole number of at least ${least}`;
}

function oneOfTexts(texts: readonly string[]): (value: unknown) => string | undefined {
  return (value) =>
    typeof value === "string" && texts.includes(value) ? undefined : `it must be one of ${texts.join(", ")}`;
}

function plainText(value: unknown): string | undefined {
  if (typeof value !== "string") return "it must be a text";
  // The provider sends it as a number, which the broker refuses.
  return /^[+-]?\d+$/.test(value) ? "a text of digits can't be set; give the queue the argument instead" : undefined;
}

/** @returns why the policy of a queue can't have a key with a value; undefined if it can */
export function describeQueueKey(key: string, value: unknown, type: unknown): string | undefined {
  const heeded = type === "quorum" ? heededByQuorum : heededByAll;
  if (heeded.includes(key)) return ALLOWED[key]?.(value);
  return `a ${String(type)} queue does not heed this key, and then the whole policy has no effect; known keys are ${heeded.join(", ")}`;
}

function checkKey(key: string, value: unknown, queue: QueuePlan, preset: DelayNetwork["preset"] | undefined): void {
  const property = `queuePolicy.${key}`;
  const fault = describeQueueKey(key, value, queue.arguments["x-queue-type"]);
  if (fault !== undefined) throw new DelayTopologyError(property, value, fault);
  if (key === "delivery-limit" && isNServiceBus(preset) && value !== NSERVICEBUS_LIMIT)
    throw new DelayTopologyError(property, value, `NServiceBus starts with ${NSERVICEBUS_LIMIT} alone; leave it out`);
}

/** Policy of a queue that needs no limit lifted. */
function bareLimit(queue: string): PolicyPlan {
  return {
    name: `${queue}.delivery-limit`,
    pattern: `^${escapeRegex(queue)}$`,
    applyTo: "queues",
    priority: PRIORITY,
    definition: {},
  };
}

/**
 * Of the networks that an endpoint joins, the preset that decides on its queue's limit: NServiceBus's, whose clients give the
 * queues that they consume a limit of their own, whatever else the queue joins.
 */
export function limitingPreset(
  joined: readonly { network: Pick<DelayNetwork, "preset"> }[],
): DelayNetwork["preset"] | undefined {
  const presets = joined.map(({ network }) => network.preset);
  return presets.find(isNServiceBus) ?? presets[0];
}

function isNServiceBus(preset: DelayNetwork["preset"] | undefined): boolean {
  return preset === "nservicebus" || preset === "nservicebus-v1";
}

/**
 * Plans the policy for a network's level queues and its parking queue: whoever reads them to move messages must not use their
 * limit up. One for all, because one for each would add 28 to 100 resources to every update; its pattern matches these queues
 * and no others, whose names hold the network's shape.
 */
export function networkLimitPolicies(network: DelayNetwork, options: DeliveryLimitOptions): PolicyPlan[] {
  if (network.queueType !== "quorum" || !mayHaveDeliveryLimit(options)) return [];
  const { prefix, entryExchanges, parkingQueue } = network;
  const levels = entryExchanges.map((exchange) => exchange.slice(prefix.length));
  const ends = [`${oneOf(levels)}${oneOf(digitsOf(network))}`];
  if (parkingQueue !== undefined) ends.push(escapeRegex(parkingQueue.slice(prefix.length)));
  const pattern = `^${escapeRegex(prefix)}(${ends.join("|")})$`;
  return [lifted(limitNameOf(network), pattern, options)];
}

/**
 * What the queues of a level add to the name of its exchange, the same in each level. The pattern has levels and digits apart, because
 * RabbitMQ 4.3 takes no pattern of more than 1,024 bytes, and a network may have over a hundred queues.
 */
function digitsOf(network: DelayNetwork): string[] {
  const [exchange = ""] = network.entryExchanges;
  return Array.from({ length: network.radix - 1 }, (_, index) =>
    levelQueueName(network, 0, index + 1).slice(exchange.length),
  );
}

function oneOf(texts: readonly string[]): string {
  return `(?:${texts.map(escapeRegex).join("|")})`;
}

/** Named as the preset names its own things. */
function limitNameOf({ preset, prefix }: DelayNetwork): string {
  const separator = { celery: "_", custom: ".", nservicebus: "-", "nservicebus-v1": "-" }[preset];
  return `${prefix}${separator}delivery-limit`;
}

function lifted(name: string, pattern: string, { brokerVersion }: DeliveryLimitOptions): PolicyPlan {
  const isKnown = brokerVersion !== undefined;
  return {
    name,
    pattern,
    applyTo: isKnown ? "quorum_queues" : "queues",
    priority: PRIORITY,
    definition: { "delivery-limit": isKnown ? NONE : OUT_OF_REACH },
  };
}

/** Whether quorum queues of a broker have a delivery limit by themselves; undefined for a version that is not known. */
export function hasDeliveryLimit(brokerVersion: string | undefined): boolean | undefined {
  return isBrokerVersion(brokerVersion) ? isAtLeast(brokerVersion, FIRST_WITH_LIMIT) : undefined;
}

/** A broker that nobody knows is taken for one that counts. */
function mayHaveDeliveryLimit({ brokerVersion }: DeliveryLimitOptions): boolean {
  return brokerVersion === undefined || hasDeliveryLimit(checkBrokerVersion("brokerVersion", brokerVersion)) === true;
}

/** Whether a policy's limit is as good as none; a queue that joins NServiceBus's network besides has both kinds for a while. */
export function isLiftedLimit(limit: unknown): boolean {
  return typeof limit === "number" && (limit === NONE || limit >= NSERVICEBUS_LIMIT);
}

/** Whether a queue asks for no delivery limit by its argument. */
export function isUnlimited({ arguments: values }: { arguments: Record<string, unknown> }): boolean {
  return Number(values["x-delivery-limit"]) < 0;
}

/**
 * Describes a queue that asks for no delivery limit on a broker before 4.0, which removes each of its messages at the first return instead.
 * Measured on RabbitMQ 3.10.8.
 * @param brokerVersion undefined if it is not known
 * @returns undefined for any other queue, and for a broker that knows such a limit
 */
export function describeUnlimited(
  { name, arguments: values }: { name: string; arguments: Record<string, unknown> },
  brokerVersion: string | undefined,
): string | undefined {
  const isOfOldBroker = !mayHaveDeliveryLimit({ brokerVersion });
  if (!isOfOldBroker || values["x-queue-type"] !== "quorum" || !isUnlimited({ arguments: values })) return undefined;
  return (
    `x-delivery-limit: ${String(values["x-delivery-limit"])} means no limit from RabbitMQ ${FIRST_WITH_LIMIT} on; RabbitMQ ${brokerVersion} lets each message of ` +
    `queue ${name} ${describeLeaving(values["x-dead-letter-exchange"])} when it is returned for the first time. Leave the argument out: before ` +
    `${FIRST_WITH_LIMIT} there is no limit`
  );
}

/** Describes what becomes of a message that leaves a queue unhandled, e.g. `leave for exchange dlx`. */
export function describeLeaving(deadLetterExchange: unknown): string {
  if (deadLetterExchange === undefined) return "be dropped";
  return `leave for ${deadLetterExchange === "" ? "the default exchange" : `exchange ${String(deadLetterExchange)}`}`;
}

function isCounted({ arguments: values }: QueuePlan): boolean {
  return values["x-queue-type"] === "quorum" && values["x-delivery-limit"] === undefined;
}

/** All patterns here are ours, so JavaScript reads them. */
function matches(pattern: string, name: string): boolean {
  return new RegExp(pattern, "u").test(name);
}
