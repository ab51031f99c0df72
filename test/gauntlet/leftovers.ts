import { readFileSync, readdirSync } from "node:fs";
import { markVariable } from "./child";
import type { Round, RunningPart } from "./workload/part";

const CLOSING_MS = 10_000;

/** Notes processes and connections of a round that are still there after its end. */
export async function leftBehind({ broker, history }: Round, parts: RunningPart[]): Promise<void> {
  const deadline = Date.now() + CLOSING_MS;
  for (const { vhost, name: part } of parts) {
    for (;;) {
      const open = await broker.api.call<{ name: string }[]>("GET", `vhosts/${vhost}/connections`);
      if (open.length === 0) break;
      if (Date.now() > deadline) {
        history.record({ kind: "left", part, what: `${open.length} connections` });
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  for (const left of markedProcesses("round")) history.record({ kind: "left", part: "", what: `process ${left}` });
}

/** Processes that this run has started for a purpose, and that live: number and program. */
export function markedProcesses(purpose: string): string[] {
  const mark = `${markVariable}=${process.pid}-${purpose}`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const variables = readFileSync(`/proc/${name}/environ`, "utf8").split("\0");
        return variables.includes(mark) ? [`${name} (${readFileSync(`/proc/${name}/comm`, "utf8").trim()})`] : [];
      } catch {
        return [];
      }
    });
}

/** Ends what a round that could not be run to its end has left, or each later one would be blamed for it. */
export function endMarkedProcesses(purpose: string): void {
  for (const left of markedProcesses(purpose)) {
    try {
      process.kill(Number.parseInt(left, 10), "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}
