import { setTimeout as pause } from "node:timers/promises";
import type { Requests } from "./requests";
import type { MatchingChange } from "./matchingChange";

/** Messages of a queue that are past their time, and that no queue takes. */
export interface StuckMessages {
  queue: string;
  count: number;
  /** Sentences that say so, with a way to let the messages out. */
  message: string;
}

/** The broker counts messages every five seconds. */
const COUNT_MS = 5000;
/** Counts in a row that have to find such messages. */
const COUNTS = 4;
/** From this many messages a second on, some may be on their way at each count. */
const BUSY_PER_SECOND = 10;

interface Counts {
  messages_dlx?: number;
  message_stats?: { publish?: number };
}

/**
 * Looks before a change whether a queue that has to run empty has messages which no queue takes: it would never be empty. Takes a moment
 * without such messages, and a quarter of a minute with them.
 * @param at the vhost, as it stands in a path
 * @returns none also for a queue through which so many messages go that some are on their way at each count
 */
export async function findStuck(requests: Requests, at: string, change: MatchingChange): Promise<StuckMessages[]> {
  const names = [change.queue, change.detour.queue, change.otherDetour.queue].map(({ name }) => name);
  const counts = await Promise.all(names.map((queue) => countStuck(requests, at, queue)));
  return names
    .map((queue, index) => ({ queue, count: counts[index] ?? 0 }))
    .filter(({ count }) => count > 0)
    .map(({ queue, count }) => ({ queue, count, message: describeStuck(queue, count, change) }));
}

async function countStuck(requests: Requests, at: string, queue: string): Promise<number> {
  const look = (): Promise<Counts | undefined> => requests.find<Counts>(`queues/${at}/${encodeURIComponent(queue)}`);
  let found = await look();
  const before = found?.message_stats?.publish ?? 0;
  let count = found?.messages_dlx ?? 0;
  for (let looks = 1; count > 0 && looks < COUNTS; looks++) {
    await pause(COUNT_MS);
    found = await look();
    count = Math.min(count, found?.messages_dlx ?? 0);
  }
  const perSecond = ((found?.message_stats?.publish ?? 0) - before) / (((COUNTS - 1) * COUNT_MS) / 1000);
  return perSecond < BUSY_PER_SECOND ? count : 0;
}

/** Says what keeps a queue from running empty, and how to let its messages out without knowing their endpoint. */
export function describeStuck(queue: string, count: number, { from, to }: MatchingChange): string {
  return (
    `messages that no queue takes, e.g. because their endpoint is gone: ${count} in queue ${queue}, which has to run empty. Let them out: ` +
    `declare a fanout exchange with a queue bound to it, and make it the alternate exchange of ${from} and ${to} by a policy of one pattern for ` +
    `both; the broker sends them there within three minutes`
  );
}
