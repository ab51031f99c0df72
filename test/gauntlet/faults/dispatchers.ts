import type { PlannedFault } from "../plan/types";
import type { Round, RunningPart } from "../workload/part";
import type { StoreDispatcher } from "../workload/storeDispatcher";
import type { Effect } from "./effect";

/** One of the store's processes is killed, and comes back by itself. */
export async function dispatcherKilled(_: Round, part: RunningPart, planned: PlannedFault): Promise<Effect> {
  return begun(await chosen(part, planned)?.signal("SIGKILL"));
}

/** It is stopped in order, and comes back. */
export async function dispatcherStopped(_: Round, part: RunningPart, planned: PlannedFault): Promise<Effect> {
  return begun(await chosen(part, planned)?.signal("SIGTERM"));
}

/** It stands still for a while. */
export async function dispatcherPaused(_: Round, part: RunningPart, planned: PlannedFault): Promise<void> {
  await chosen(part, planned)?.pause(planned.forMs ?? 1000);
}

/** Its clock jumps, and is right again after a while. */
export async function clockJumps(_: Round, part: RunningPart, planned: PlannedFault): Promise<Effect> {
  const { byMs = 0, forMs = 1000 } = planned;
  return { ...begun(await chosen(part, planned)?.jump(byMs, forMs)), byMs };
}

function chosen({ dispatchers }: RunningPart, { index = 0 }: PlannedFault): StoreDispatcher | undefined {
  return dispatchers[index % dispatchers.length];
}

function begun(at: number | undefined): Effect {
  return at === undefined ? {} : { at };
}
