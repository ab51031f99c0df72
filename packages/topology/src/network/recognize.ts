import type { DelayNetworkOptions } from "../options.generated";
import type { DelayNetwork, Radix } from "./delayNetwork";
import { levelQueueName, queueTtlMs } from "./levels";
import { delayNetwork } from "./options";

/**
 * The network that the name of the exchange tells of to which its endpoints are bound: own names hold the shape, vendors' are always 28
 * binary levels of a second. Undefined for another exchange.
 */
export function networkOfDelivery(exchange: string): DelayNetwork | undefined {
  if (!recognized.has(exchange)) {
    if (recognized.size >= MOST_RECOGNIZED) recognized.clear();
    recognized.set(exchange, recognize(exchange));
  }
  return recognized.get(exchange);
}

/** A program has few networks, and thousands of bindings that ask for the same ones. */
const recognized = new Map<string, DelayNetwork | undefined>();
const MOST_RECOGNIZED = 1000;

function recognize(exchange: string): DelayNetwork | undefined {
  return candidatesOf(exchange)
    .map(tryNetwork)
    .find((network) => network?.bindingExchange === exchange);
}

function candidatesOf(exchange: string): DelayNetworkOptions[] {
  const own = /^(.+)\.r(\d+)x(\d+)u(\d+)(c?)\.[^.]+$/s.exec(exchange);
  if (own !== null) {
    const [, prefix, radix, levels, unitMs, classic] = own;
    const queueType = classic === "c" ? ("classic" as const) : ("quorum" as const);
    return [
      {
        preset: "custom",
        prefix,
        radix: Number(radix) as Radix,
        levels: Number(levels),
        unitMs: Number(unitMs),
        queueType,
      },
    ];
  }
  const celery = /^(?:(.+)_)?celery_delayed_delivery$/s.exec(exchange);
  if (celery !== null) return [{ preset: "celery", ...(celery[1] === undefined ? {} : { prefix: celery[1] }) }];
  const matching = exchange.endsWith("-exact") ? "enforced" : "exact";
  return [
    { preset: "nservicebus", matching },
    { preset: "nservicebus-v1", matching },
  ];
}

function tryNetwork(options: DelayNetworkOptions): DelayNetwork | undefined {
  try {
    // An exchange's name does not tell its vhost.
    return { ...delayNetwork(options), version: 1, vhost: undefined };
  } catch {
    return undefined;
  }
}

/**
 * How long after it left a level's queue a message is at its end at the latest, in milliseconds: all lower digits at their
 * highest. 0 for a queue that is no level's.
 */
export function remainingMs(network: DelayNetwork, queue: string): number {
  for (let level = 0; level < network.levels; level++) {
    for (let digit = 1; digit < network.radix; digit++) {
      if (levelQueueName(network, level, digit) === queue) return queueTtlMs(network, level, 1) - network.unitMs;
    }
  }
  return 0;
}
