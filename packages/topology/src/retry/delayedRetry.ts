import { EntityPlan, PolicyPlan, escapeRegex } from "../entities";
import { DelayTopologyError, checkInteger, checkOneOf, checkKnown } from "../errors";
import { brokerLimits, checkEntityName, checkShortString } from "../names";
import { checkDelayMs } from "./delays";
import { checkHead } from "../descriptorHead";
import { deadLetterArguments } from "../queueKind";

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

/** What a queue with delayed retry is made from. */
export interface DelayedRetryOptions {
  /** Name of the queue. */
  queue: string;
  /** Default `failed`. */
  type?: DelayedRetryType;
  /** Delay of the first redelivery, in milliseconds; the nth is n times as long. */
  minMs: number;
  /** Longest delay, in milliseconds. Default: `minMs` times `deliveryLimit`, so that no delay is cut. */
  maxMs?: number;
  /** Failures before a message is dead-lettered. Default 20, which is RabbitMQ 4's own; source: its quorum queue guide. */
  deliveryLimit?: number;
  /** Where messages over the limit go. Default: a queue `QUEUE.dead`, which is declared along. */
  deadLetterExchange?: string;
  /** The key that they get there. Default: the one they have. */
  deadLetterRoutingKey?: string;
  /** Default `arguments`. */
  settings?: DelayedRetrySettings;
}

const known = [
  "queue",
  "type",
  "minMs",
  "maxMs",
  "deliveryLimit",
  "deadLetterExchange",
  "deadLetterRoutingKey",
  "settings",
];
/** A message that failed that often is not going to succeed. */
const MOST_DELIVERIES = 1_000_000;

/**
 * Makes the descriptor of a queue with delayed retry from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function delayedRetry(options: DelayedRetryOptions): DelayedRetry {
  checkKnown("delayedRetry", options, known);
  const { queue, type = "failed", deliveryLimit = 20, settings = "arguments", deadLetterExchange } = options;
  const maxMs = options.maxMs ?? Math.min(options.minMs * deliveryLimit, brokerLimits.messageTtlMs);
  const deadQueue = deadLetterExchange === undefined ? `${queue}.dead` : undefined;
  if (deadQueue !== undefined && options.deadLetterRoutingKey !== undefined) {
    throw new DelayTopologyError(
      "deadLetterRoutingKey",
      options.deadLetterRoutingKey,
      "it goes with deadLetterExchange",
    );
  }
  const target = deadQueue === undefined ? {} : { deadLetterExchange: "", deadLetterRoutingKey: deadQueue, deadQueue };
  return checkDelayedRetry({ ...options, type, maxMs, deliveryLimit, settings, ...target }, (name) => name);
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseDelayedRetry(value: unknown, property = "delayedRetry"): DelayedRetry {
  const descriptor = checkHead<DelayedRetry>(value, "delayed-retry", property);
  const checked = checkDelayedRetry(descriptor, (name) => `${property}.${name}`);
  if (checked.deadQueue !== undefined && checked.deadQueue !== `${checked.queue}.dead`) {
    throw new DelayTopologyError(
      `${property}.deadQueue`,
      checked.deadQueue,
      `for this queue it must be ${checked.queue}.dead`,
    );
  }
  return checked;
}

function checkDelayedRetry(
  given: Partial<Record<keyof DelayedRetry, unknown>>,
  at: (name: string) => string,
): DelayedRetry {
  const { deadLetterExchange, deadLetterRoutingKey, deadQueue } = given;
  const queue = checkEntityName(at("queue"), given.queue);
  // The options have no dead queue: its name follows from the queue's.
  if (deadQueue !== undefined) checkEntityName(at(deadQueue === `${queue}.dead` ? "queue" : "deadQueue"), deadQueue);
  if (typeof deadLetterExchange !== "string") {
    throw new DelayTopologyError(at("deadLetterExchange"), deadLetterExchange, "it must be the name of an exchange");
  }
  checkShortString(at("deadLetterExchange"), deadLetterExchange);
  if (deadLetterRoutingKey !== undefined) {
    if (typeof deadLetterRoutingKey !== "string") {
      throw new DelayTopologyError(at("deadLetterRoutingKey"), deadLetterRoutingKey, "it must be a text");
    }
    checkShortString(at("deadLetterRoutingKey"), deadLetterRoutingKey);
  }
  const deliveryLimit = checkInteger(at("deliveryLimit"), given.deliveryLimit, 1, MOST_DELIVERIES);
  const minMs = checkDelayMs(at("minMs"), given.minMs);
  const maxMs = checkDelayMs(at("maxMs"), given.maxMs);
  if (maxMs < minMs) throw new DelayTopologyError(at("maxMs"), maxMs, `it must be at least minMs, ${minMs}`);
  return {
    kind: "delayed-retry",
    version: 1,
    queue,
    type: checkOneOf(at("type"), given.type, delayedRetryTypes),
    minMs,
    maxMs,
    deliveryLimit,
    deadLetterExchange,
    ...(deadLetterRoutingKey === undefined ? {} : { deadLetterRoutingKey }),
    ...(deadQueue === undefined ? {} : { deadQueue: deadQueue as string }),
    settings: checkOneOf(at("settings"), given.settings, delayedRetrySettings),
  };
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
