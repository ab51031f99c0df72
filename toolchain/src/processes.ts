import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import pWaitFor from "p-wait-for";

/**
 * When a process started, which distinguishes it from a later one with the same number, as after a restart of the machine.
 * @returns undefined if there is no such process
 */
export function startOf(processId: number): string | undefined {
  try {
    if (process.platform !== "linux")
      return execFileSync("ps", ["-o", "lstart=", "-p", String(processId)], { encoding: "utf8" }).trim();
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const stat = readFileSync(`/proc/${processId}/stat`, "utf8");
    // After the command's name, which may contain anything; the start is the 22nd field.
    return `${boot} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
  } catch {
    return undefined;
  }
}

/** This user's processes that were started with this value of a variable in their environment. */
export function processesWith(name: string, value: string): number[] {
  const wanted = `${name}=${value}`;
  if (process.platform !== "linux") {
    const lines = execFileSync("ps", ["eww", "-axo", "pid=,command="], { encoding: "utf8" }).split("\n");
    return lines.filter((line) => line.includes(` ${wanted}`)).map((line) => Number.parseInt(line, 10));
  }
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((entry) => environmentOf(entry).includes(wanted))
    .map(Number)
    .filter((processId) => processId !== process.pid);
}

function environmentOf(processId: string): string[] {
  try {
    return readFileSync(`/proc/${processId}/environ`, "utf8").split("\0");
  } catch {
    // The process is another user's, or has ended.
    return [];
  }
}

/** How long the system may take to end a process that was killed, in milliseconds. */
const KILL_MS = 10_000;

/** Waits a moment for such processes to end, kills those that do not, and waits until these are gone. */
export async function endProcessesWith(name: string, value: string, graceMs: number): Promise<void> {
  const haveEnded = (): boolean => processesWith(name, value).length === 0;
  const wait = (milliseconds: number): Promise<void> =>
    pWaitFor(haveEnded, { interval: 50, timeout: { milliseconds, fallback: () => undefined } });
  if (graceMs > 0) await wait(graceMs);
  for (const processId of processesWith(name, value)) {
    try {
      process.kill(processId, "SIGKILL");
    } catch {
      // It has already ended.
    }
  }
  await wait(KILL_MS);
}
