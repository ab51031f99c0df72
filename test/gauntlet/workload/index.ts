import type { Part } from "../plan/types";
import { startCommand } from "./command";
import { startHold } from "./hold";
import { startNetwork } from "./network";
import type { Round, RunningPart } from "./part";
import { startRetry } from "./retry";
import { startStore } from "./store";

/** Declares what a part needs, and prepares who takes part in it. */
export async function startPart(round: Round, part: Part, vhost: string): Promise<RunningPart> {
  switch (part.mechanism) {
    case "network":
      return startNetwork(round, part, vhost);
    case "retry":
      return startRetry(round, part, vhost);
    case "hold":
      return startHold(round, part, vhost);
    case "store":
      return startStore(round, part, vhost);
    case "command":
      return startCommand(round, part, vhost);
  }
}
