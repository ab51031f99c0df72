import type { ChildProcess } from "node:child_process";

const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;
type Signal = keyof typeof SIGNALS;
/** How long a child may take to end before it is killed; an update of a stack ends properly within it. */
const GRACE_MS = 30_000;
/** How long the command may take after its last child, to remove unfinished files. */
const TIDY_MS = 15_000;

/** How a child is asked to end. */
export interface Tracked {
  /** Default SIGTERM. */
  signal?: NodeJS.Signals;
  /** Whether it is in the terminal's foreground, where Ctrl-C reaches it directly; otherwise it leads a process group. */
  isForeground?: boolean;
}

const interruption = new AbortController();
const children = new Map<ChildProcess, Tracked>();
let isGuarded = false;

/** Aborted when the command was asked to end; everything that waits observes it. */
export const interrupted: AbortSignal = interruption.signal;

/** Whether {@link guard} looks after the children of this process. */
export function isGuarding(): boolean {
  return isGuarded;
}

/** Lets {@link guard} end this child. */
export function track(child: ChildProcess, how: Tracked = {}): void {
  children.set(child, how);
  child.once("close", () => children.delete(child));
  child.once("error", () => children.delete(child));
}

/**
 * Runs a command so that Ctrl-C, SIGTERM and a closed terminal leave nothing unfinished behind. The processes that the command started are
 * asked to end, its `finally` blocks remove unfinished files, and then the process ends with the exit code that shells use for the signal.
 */
export async function guard(command: () => Promise<void>): Promise<void> {
  isGuarded = true;
  for (const signal of Object.keys(SIGNALS) as Signal[]) process.on(signal, () => interrupt(signal));
  try {
    await Promise.race([command(), untilTidy()]);
  } catch (error) {
    if (!interrupted.aborted) throw error;
    console.error(`${(interrupted.reason as Error).message}; run it again to go on from here.`);
  }
  if (interrupted.aborted) process.exit();
}

function interrupt(signal: Signal): void {
  process.exitCode = 128 + SIGNALS[signal];
  const isSecond = interrupted.aborted;
  for (const [child, { signal: wanted = "SIGTERM", isForeground = false }] of children) {
    if (isSecond) end(child, "SIGKILL", isForeground);
    else if (!isForeground || signal !== "SIGINT") end(child, wanted, isForeground);
  }
  if (!isSecond) interruption.abort(new Error(`Interrupted by ${signal}`));
}

/** Rejects when an interrupted command has had its time; anything it still waits for can't be cancelled. */
function untilTidy(): Promise<never> {
  return new Promise((_, reject) => {
    interrupted.addEventListener("abort", () => {
      const killAt = Date.now() + GRACE_MS;
      let overAt: number | undefined;
      setInterval(() => {
        if (Date.now() > killAt) for (const [child, how] of children) end(child, "SIGKILL", how.isForeground === true);
        overAt = children.size > 0 ? undefined : (overAt ?? Date.now() + TIDY_MS);
        if (overAt !== undefined && Date.now() > overAt) reject(interrupted.reason as Error);
      }, 100);
    });
  });
}

function end({ pid }: ChildProcess, signal: NodeJS.Signals, isForeground: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(isForeground ? pid : -pid, signal);
  } catch {
    // It has already ended.
  }
}
