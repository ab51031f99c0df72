import { EntityPlan, escapeRegex, PolicyPlan } from "../entities";
import { DelayTopologyError } from "../errors";
import { brokerLimits, checkEntityName } from "../names";
import { byHand, Source } from "../optionReading";
import type { DelayedRetryOptions } from "../options.generated";
import { deadLetterArguments } from "../queueKind";
import { optionsIn, readDescriptor } from "../readDescriptor";
import { delayedRetryNames, readDelayedRetryOptions } from "../retryReaders.generated";

/** Which returned messages the broker delays. */
export const delayedRetryTypes = ["failed", "returned", "all"] as const;

/**
 * `failed`: rejected ones and those of a lost consumer, which the broker counts; `returned`: those given back without a
 * failure, which it does not count; `all`: both.
 */
export type DelayedRetryType = (typeof delayedRetryTypes)[number];

/** Where the settings stand: in the queue's arguments, or in a policy, which can be changed later. */
export const delayedRetrySettings = ["arguments", "policy"] as const;

export type DelayedRetrySettings = (typeof delayedRetrySettings)[number];

/** The descriptor of a quorum queue with the broker's own delayed retry: plain JSON that a stack exports. */
export interface DelayedRetry {
  kind: "delayed-retry";
  version: 1;
  queue: string;
  type: DelayedRetryType;
  /** Delay of the first redelivery, in milliseconds; the nth is n times as long. */
  minMs: number;
  /** Longest delay, in milliseconds. */
  maxMs: number;
  /** Failures that the broker counts before it dead-letters a message. */
  deliveryLimit: number;
  /** Where messages over the limit go; `""` is the default exchange. */
  deadLetterExchange: string;
  /** The key that they get; undefined: the one they have. */
  deadLetterRoutingKey?: string;
  /** The dead queue that is declared along; undefined where a target was given. */
  deadQueue?: string;
  settings: DelayedRetrySettings;
}

/**
 * Makes the descriptor of a queue with delayed retry from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function delayedRetry(options: DelayedRetryOptions): DelayedRetry {
  return makeDelayedRetry(options, byHand);
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseDelayedRetry(value: unknown, property = "delayedRetry"): DelayedRetry {
  return readDescriptor<DelayedRetry>(value, "delayed-retry", property, (given, source) => {
    const { deadLetterExchange, deadLetterRoutingKey, ...others } = optionsIn(delayedRetryNames, given);
    const target = given.deadQueue === undefined ? { deadLetterExchange, deadLetterRoutingKey } : {};
    return makeDelayedRetry({ ...others, ...target }, source);
  });
}

function makeDelayedRetry(options: unknown, source: Source): DelayedRetry {
  const { at } = source;
  const { queue, type, minMs, deliveryLimit, settings, ...shape } = readDelayedRetryOptions(
    options,
    "delayedRetry",
    source,
  );
  const maxMs = shape.maxMs ?? Math.min(minMs * deliveryLimit, brokerLimits.messageTtlMs);
  if (maxMs < minMs) throw new DelayTopologyError(at("maxMs"), maxMs, `it must be at least minMs, ${minMs}`);
  return {
    kind: "delayed-retry",
    version: 1,
    queue,
    type,
    minMs,
    maxMs,
    deliveryLimit,
    ...targetOf(queue, shape, at),
    settings,
  };
}

type Target = Pick<DelayedRetry, "deadLetterExchange" | "deadLetterRoutingKey" | "deadQueue">;

function targetOf(queue: string, given: Partial<Target>, at: (name: string) => string): Target {
  const { deadLetterExchange, deadLetterRoutingKey } = given;
  if (deadLetterExchange !== undefined) {
    return { deadLetterExchange, ...(deadLetterRoutingKey === undefined ? {} : { deadLetterRoutingKey }) };
  }
  if (deadLetterRoutingKey !== undefined) {
    throw new DelayTopologyError(at("deadLetterRoutingKey"), deadLetterRoutingKey, "it goes with deadLetterExchange");
  }
  const deadQueue = checkEntityName(at("queue"), `${queue}.dead`);
  return { deadLetterExchange: "", deadLetterRoutingKey: deadQueue, deadQueue };
}

/**
 * The delay of a failed message before its nth redelivery, in milliseconds: as long as the first, times n, up to the longest.
 * Source: RabbitMQ 4.3's quorum queue guide; measured on 4.3.6.
 */
export function delayedRetryMs({ minMs, maxMs }: Pick<DelayedRetry, "minMs" | "maxMs">, redelivery: number): number {
  return Math.min(minMs * redelivery, maxMs);
}

/**
 * The oldest broker that heeds the settings; an older one takes them without a word and does not delay. Sources: RabbitMQ's
 * release notes of 4.3.0; rabbitmq-server's pull request 16395, by which 4.3.1 reads them from policies.
 */
export function delayedRetryVersion({ settings }: Pick<DelayedRetry, "settings">): string {
  return settings === "policy" ? "4.3.1" : "4.3.0";
}

/** Plans the queue, its dead queue unless a target was given, and the policy where the settings stand in one. */
export function planDelayedRetry(descriptor: DelayedRetry): EntityPlan & { policy?: PolicyPlan } {
  const { queue, deadQueue, settings } = descriptor;
  const isPolicy = settings === "policy";
  return {
    exchanges: [],
    queues: [
      ...(deadQueue === undefined
        ? []
        : [{ name: deadQueue, durable: true as const, arguments: { "x-queue-type": "quorum" } }]),
      {
        name: queue,
        durable: true,
        arguments: { "x-queue-type": "quorum", ...(isPolicy ? {} : retryArguments(descriptor)) },
      },
    ],
    bindings: [],
    ...(isPolicy ? { policy: retryPolicy(descriptor) } : {}),
  };
}

function retryArguments(descriptor: DelayedRetry): Record<string, string | number> {
  const { type, minMs, maxMs, deliveryLimit, deadLetterExchange, deadLetterRoutingKey } = descriptor;
  return {
    "x-delayed-retry-type": type,
    "x-delayed-retry-min": minMs,
    "x-delayed-retry-max": maxMs,
    "x-delivery-limit": deliveryLimit,
    ...deadLetterArguments(true, { exchange: deadLetterExchange, routingKey: deadLetterRoutingKey }),
  };
}

/** The same settings, without the `x-`. */
function retryPolicy(descriptor: DelayedRetry): PolicyPlan {
  const definition = Object.entries(retryArguments(descriptor)).map(([key, value]) => [key.replace(/^x-/, ""), value]);
  return {
    name: `${descriptor.queue}.delayed-retry`,
    pattern: `^${escapeRegex(descriptor.queue)}$`,
    applyTo: "quorum_queues",
    priority: 100,
    definition: Object.fromEntries(definition) as Record<string, string | number>,
  };
}
