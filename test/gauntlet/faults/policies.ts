import type { PlannedFault } from "../plan/types";
import type { Round, RunningPart } from "../workload/part";
import type { Effect } from "./effect";
import { untilDone } from "./unbind";

/** Somebody's policy makes all that waits early. */
export function earlyPolicy(round: Round, part: RunningPart, planned: PlannedFault): Promise<Effect> {
  return withPolicy(round, part, planned, ".*", { "message-ttl": 20 });
}

/** Somebody's policy keeps one message of a queue alone. */
export function shortPolicy(round: Round, part: RunningPart, planned: PlannedFault): Promise<Effect> {
  const queue = part.queues[(planned.index ?? 0) % part.queues.length] ?? "";
  const pattern = `^${queue.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
  return withPolicy(round, part, planned, pattern, { "max-length": 1, overflow: "drop-head" });
}

async function withPolicy(
  { broker }: Round,
  { vhost }: RunningPart,
  { forMs = 500 }: PlannedFault,
  pattern: string,
  definition: object,
): Promise<Effect> {
  const path = `policies/${vhost}/somebodys`;
  await broker.api.call("PUT", path, { pattern, definition, priority: 999, "apply-to": "queues" });
  await new Promise((resolve) => setTimeout(resolve, forMs));
  await untilDone(() => broker.api.call("DELETE", path));
  return { subject: pattern };
}
