import { ChildProcess, spawn } from "node:child_process";
import { fetch } from "undici";
import { marked } from "../child";
import type { FakeClock } from "../fakeClock";
import { nowMs } from "../history";
import { TOLERATED_JUMP_MS } from "../invariants/clocks";
import { ownEnd } from "../ownEnd";
import { command } from "../rig";
import { Turns } from "../turns";

const READY_TIMEOUT_MS = 60_000;

/** How a store's process is started. */
export interface DispatcherOptions {
  args: string[];
  environment: Record<string, string>;
  port: number;
  /** The clock that it goes by, where it is not the machine's. */
  clock?: FakeClock;
  onOutput: (text: string) => void;
  /** Called when it has ended by itself, and not because its broker or its database was away. */
  onOwnEnd: (said: string) => void;
}

/** Of an end in order, of one that finds its broker or its database away, and of one that is asked for twice. */
const EXPECTED_CODES = [0, 3, 130];

/** A process of the command that runs the store, which is started anew when it ends. */
export class StoreDispatcher {
  private process: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();
  private isOver = false;
  private last = "";
  private readonly jumps = new Turns();
  /** Ends of the process, and what must not meet one. */
  private readonly ends = new Turns();

  constructor(private readonly options: DispatcherOptions) {}

  /** Starts it, and waits until it takes messages in. */
  async start(): Promise<void> {
    this.launch();
    await this.until((status) => status === 200);
  }

  /** Ends it with a signal; it comes back by itself. @returns when it got the signal */
  signal(signal: "SIGKILL" | "SIGTERM"): Promise<number> {
    return this.ends.take(async () => {
      const { ended } = this;
      const at = nowMs();
      this.process?.kill(signal);
      await ended;
      // What ends at once again and again was never there: it works for a while before it ends anew.
      await new Promise((resolve) => setTimeout(resolve, 700));
      return at;
    });
  }

  /** Its clock jumps, and is right again after a while; one jump after another. @returns when it jumped */
  jump(byMs: number, forMs: number): Promise<number> {
    return this.jumps.take(async () => {
      if (byMs <= TOLERATED_JUMP_MS) return this.jumpNow(byMs, forMs);
      // A process that starts believes the clock that it finds, so this one has to be there, and to stay.
      return this.ends.take(async () => {
        await this.until(() => true);
        return this.jumpNow(byMs, forMs);
      });
    });
  }

  /** Stands still for a while. */
  async pause(forMs: number): Promise<void> {
    const paused = this.process;
    paused?.kill("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, forMs));
    paused?.kill("SIGCONT");
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    this.isOver = true;
    const timer = setTimeout(() => this.process?.kill("SIGKILL"), 15_000);
    this.process?.kill("SIGTERM");
    await this.ended;
    clearTimeout(timer);
  }

  private async jumpNow(byMs: number, forMs: number): Promise<number> {
    const { clock } = this.options;
    const at = nowMs();
    clock?.set(byMs);
    await new Promise((resolve) => setTimeout(resolve, forMs));
    clock?.set(0);
    return at;
  }

  /** Waits until it answers so. */
  private async until(isSo: (status: number) => boolean): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${this.options.port}/readyz`).catch(() => undefined);
      await response?.text();
      if (response !== undefined && isSo(response.status)) return;
      if (Date.now() > deadline) throw new Error(`the store did not start; it says:\n${this.last}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  private launch(): void {
    const { args, environment, clock, onOutput, onOwnEnd } = this.options;
    const child = spawn(process.execPath, [command, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...environment, ...clock?.environment, ...marked("round") },
    });
    const read = (data: Buffer): void => {
      this.last = (this.last + data.toString()).slice(-2000);
      onOutput(data.toString());
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    this.process = child;
    this.ended = new Promise((resolve) =>
      child.once("close", (code) => {
        if (code !== null && !EXPECTED_CODES.includes(code)) onOwnEnd(ownEnd(code, this.last));
        clock?.forget(child.pid);
        if (!this.isOver) this.launch();
        resolve();
      }),
    );
  }
}
