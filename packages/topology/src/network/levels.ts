import { brokerLimits } from "../names";
import type { DelayNetwork } from "./delayNetwork";

/**
 * How long queue `digit` of `level` keeps a message, in milliseconds: `digit · radix^level · unitMs`.
 * This is the one place where a level queue's TTL is decided.
 */
export function queueTtlMs(network: Pick<DelayNetwork, "radix" | "unitMs">, level: number, digit: number): number {
  return digit * network.radix ** level * network.unitMs;
}

/** The longest delay of a network, in milliseconds: every digit at its highest. */
export function maximumDelayMs(network: Pick<DelayNetwork, "radix" | "levels" | "unitMs">): number {
  return (network.radix ** network.levels - 1) * network.unitMs;
}

/** The word that stands for a digit in a routing key: `0`…`9`, `a`…`f`, so that each level takes two bytes with its dot. */
export function digitName(digit: number): string {
  return digit.toString(16);
}

/** Bytes that the digits and their dots take at the start of a routing key. */
export function keyPrefixBytes(network: Pick<DelayNetwork, "levels">): number {
  return 2 * network.levels;
}

/** Bytes that are left for the destination in a published routing key: 255 less two for each level. */
export function maximumDestinationBytes(network: Pick<DelayNetwork, "levels">): number {
  return brokerLimits.shortStringBytes - keyPrefixBytes(network);
}

/**
 * Name of a level's exchange.
 * NServiceBus pads the level to two places, Celery does not; sources: NServiceBus.RabbitMQ's DelayInfrastructure, kombu's
 * native_delayed_delivery.
 */
export function levelExchangeName(network: Pick<DelayNetwork, "preset" | "prefix">, level: number): string {
  const padded = String(level).padStart(2, "0");
  switch (network.preset) {
    case "celery":
      return `${network.prefix}_${level}`;
    case "custom":
      return `${network.prefix}.level-${padded}`;
    default:
      return `${network.prefix}-level-${padded}`;
  }
}

/** Name of the queue for one digit of a level: the exchange's name, and the digit where there is more than one queue. */
export function levelQueueName(network: Pick<DelayNetwork, "preset" | "prefix">, level: number, digit: number): string {
  const exchange = levelExchangeName(network, level);
  return network.preset === "custom" ? `${exchange}-${digit}` : exchange;
}
