import { DelayTopologyError, checkInteger } from "./errors";
import { decodeRoutingKey } from "./decode";
import type { DelayNetwork } from "./network";
import { queueTtlMs } from "./shape";

/** Where a waiting message was found. */
export interface RemainingDelayInput {
  /** Its routing key, unchanged since it was published. */
  routingKey: string;
  /** The level of the queue that it waits in; leave out for a message that is not in a level queue yet. */
  level?: number;
  /** How long it has been in that queue, in milliseconds; default 0, which never makes it early. */
  waitedMs?: number;
}

/** What is left of a delay. */
export interface RemainingDelay {
  /** Milliseconds from now until the message is due; never less than 0. */
  remainingMs: number;
  destination: string;
}

/**
 * How much longer a message has to wait: what is left in its queue, and all the levels below. For tools that move messages.
 * @throws DelayTopologyError for a foreign key, or a level whose digit in the key is 0, where the message can't be waiting
 */
export function remainingDelay(network: DelayNetwork, input: RemainingDelayInput): RemainingDelay {
  const { delayMs, destination } = decodeRoutingKey(network, input.routingKey);
  const waitedMs = input.waitedMs ?? 0;
  if (typeof waitedMs !== "number" || !(waitedMs >= 0)) {
    throw new DelayTopologyError("waitedMs", waitedMs, "it must be a number of milliseconds from 0");
  }
  if (input.level === undefined) return { remainingMs: Math.max(0, delayMs - waitedMs), destination };
  const level = checkInteger("level", input.level, 0, network.levels - 1);
  const digit = parseInt(input.routingKey.charAt(2 * (network.levels - 1 - level)), 16);
  if (digit === 0) {
    throw new DelayTopologyError(
      "level",
      level,
      `the key ${input.routingKey} has a 0 there, so the message never waits at that level`,
    );
  }
  const ownMs = queueTtlMs(network, level, digit);
  const belowMs = delayMs % (network.radix ** level * network.unitMs);
  return { remainingMs: Math.max(0, ownMs - waitedMs) + belowMs, destination };
}
