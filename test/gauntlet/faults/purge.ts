import type { PlannedFault } from "../plan/types";
import type { Round, RunningPart } from "../workload/part";
import { onChannel } from "./amqp";
import type { Effect } from "./effect";

/** Somebody purges a queue; the broker says how many messages that were. */
export async function purge(round: Round, part: RunningPart, { index = 0 }: PlannedFault): Promise<Effect> {
  const queue = part.queues[index % part.queues.length];
  if (queue === undefined) return {};
  const { messageCount } = await onChannel(round, part, (channel) => channel.purgeQueue(queue));
  return { subject: queue, taken: messageCount };
}
