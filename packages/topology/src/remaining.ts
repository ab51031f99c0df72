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
  /**
   * When a header says that it is due. Such a header is hearsay: a service that fails a message and sends it once more copies the header
   * along. It counts where the place in the network allows it; outside of that it is stale, and the longest possible time is taken.
   */
  dueAt?: Date;
  /** The time now, for `dueAt`; default the clock's. */
  now?: Date;
}

/** What is left of a delay. */
export interface RemainingDelay {
  /** Milliseconds from now until the message is due; never less than 0. */
  remainingMs: number;
  destination: string;
}

/**
 * How much longer a message has to wait: what is left in its queue, and all the levels below. For tools that move messages.
 * In queue d of level l that lies between what the lower digits say and that with the queue's TTL.
 * @throws DelayTopologyError for a foreign key, a level whose digit in the key is 0, where the message can't be waiting, or a time
 * that is none
 */
export function remainingDelay(network: DelayNetwork, input: RemainingDelayInput): RemainingDelay {
  const { delayMs, destination } = decodeRoutingKey(network, input.routingKey);
  const waitedMs = input.waitedMs ?? 0;
  if (typeof waitedMs !== "number" || !(waitedMs >= 0)) {
    throw new DelayTopologyError("waitedMs", waitedMs, "it must be a number of milliseconds from 0");
  }
  if (input.level === undefined) {
    return { remainingMs: within(input, 0, Math.max(0, delayMs - waitedMs)), destination };
  }
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
  return { remainingMs: within(input, belowMs, belowMs + Math.max(0, ownMs - waitedMs)), destination };
}

/** What a due header says, where the place in the network allows it; else the longest that it allows. */
function within({ dueAt, now = new Date() }: RemainingDelayInput, leastMs: number, mostMs: number): number {
  if (dueAt === undefined) return mostMs;
  for (const [name, time] of Object.entries({ dueAt, now })) {
    if (!(time instanceof Date) || Number.isNaN(time.getTime()))
      throw new DelayTopologyError(name, time, "it must be a valid Date");
  }
  const saidMs = dueAt.getTime() - now.getTime();
  return saidMs >= leastMs && saidMs <= mostMs ? saidMs : mostMs;
}
