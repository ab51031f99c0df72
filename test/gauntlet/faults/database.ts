import type { PlannedFault } from "../plan/types";
import type { Round, RunningPart } from "../workload/part";

/** The database's process is killed, and started anew. */
export async function databaseKilled(_: Round, { database }: RunningPart): Promise<void> {
  await database?.anew("SIGKILL");
}

/** It is stopped in order, and started anew. */
export async function databaseStopped(_: Round, { database }: RunningPart): Promise<void> {
  await database?.anew("SIGINT");
}

/** It stands still for a while. */
export async function databasePaused(
  _: Round,
  { database }: RunningPart,
  { forMs = 1000 }: PlannedFault,
): Promise<void> {
  await database?.pause(forMs);
}

/** It does what it is asked, and its next answer is lost with the connection. */
export async function answerLost(_: Round, { database }: RunningPart): Promise<void> {
  await database?.loseAnswer();
}
