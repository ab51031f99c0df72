import { EnforceError } from "./enforceError";
import type { MatchingChange } from "./matchingChange";
import { Requests, told } from "./requests";
import { describeStuck } from "./stuckMessages";
import { until } from "./until";

/** The broker counts messages every five seconds. */
const COUNT_MS = 5000;
/** Counts in a row that have to find a queue empty. */
const COUNTS = 3;
/** Counts in a row that may find nothing in a queue but messages that no queue takes. */
const STUCK_COUNTS = 4;
/** Looks in a row that may say nothing but a count; any broker may say as little for a moment. */
const MOST_SILENCE = 6;

/** The parts that draining works with. */
export interface DrainParts {
  requests: Requests;
  /** The vhost, as a path has it. */
  at: string;
  change: MatchingChange;
  /** Time that a queue may take until it is empty, in milliseconds. */
  timeoutMs: number;
  /** Told of messages that no queue takes. */
  onStuck: (message: string) => void;
}

/** Deletes a queue, once the broker has counted several times that nothing is in it, and while nothing is bound to it. */
export async function drainQueue(queue: string, parts: DrainParts): Promise<void> {
  const { requests, at, change, timeoutMs, onStuck } = parts;
  const path = `queues/${at}/${encodeURIComponent(queue)}`;
  let empty = 0;
  let silence = 0;
  let stuck = 0;
  let why: string | undefined;
  let isGone = false;
  await until(
    `queue ${queue} is empty`,
    timeoutMs,
    async () => {
      const found = await requests.find<{ messages?: number; messages_dlx?: number; consumers?: number }>(path);
      isGone = found === undefined;
      // A run that was killed as it deleted it had found it empty.
      if (found === undefined) return true;
      // A queue that nobody counts is not empty. What was dead-lettered and not accepted yet is counted apart, too.
      const isSilent = found.messages !== undefined && found.consumers === undefined;
      silence = isSilent ? silence + 1 : 0;
      if (silence > MOST_SILENCE) throw new EnforceError(describeSilent(queue));
      empty = !isSilent && found.messages === 0 && (found.messages_dlx ?? 0) === 0 ? empty + 1 : 0;
      const count = found.messages_dlx ?? 0;
      stuck = !isSilent && count > 0 && (found.messages ?? 0) <= count ? stuck + 1 : 0;
      why = stuck < STUCK_COUNTS ? undefined : describeStuck(queue, count, change);
      // A message that a busy queue refused comes out by itself within minutes.
      if (stuck === STUCK_COUNTS && why !== undefined) onStuck(why);
      await checkUnbound(queue, parts);
      return empty >= COUNTS;
    },
    COUNT_MS,
    () => why,
  );
  if (isGone) return;
  await checkUnbound(queue, parts);
  await requests.send("DELETE", path);
}

/** @throws EnforceError for a queue that is in use again, which would never run empty, or be deleted with its messages */
async function checkUnbound(queue: string, { requests, at, change }: DrainParts): Promise<void> {
  const bindings = await told(
    `the bindings of queue ${queue} can't be read`,
    requests.get<{ source: string }[]>(`queues/${at}/${encodeURIComponent(queue)}/bindings`),
  );
  const ways = ["", change.detour.exchange, change.otherDetour.exchange];
  const again = bindings.find(({ source }) => !ways.includes(source));
  if (again === undefined) return;
  throw new EnforceError(
    `${again.source} is bound to queue ${queue} again, by another run of this verb, or by an endpoint that runs NServiceBus's installers: turn ` +
      "those off, and run this again",
  );
}

function describeSilent(queue: string): string {
  return (
    `the broker counts the messages of queue ${queue}, and not those past their time, which could be lost with it: its statistics are ` +
    "switched off (management.disable_stats); switch them on, and run this again"
  );
}
