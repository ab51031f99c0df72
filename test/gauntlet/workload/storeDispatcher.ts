import { ChildProcess, spawn } from "node:child_process";
import { fetch } from "undici";
import { marked } from "../child";
import { command } from "../rig";

const READY_TIMEOUT_MS = 60_000;

/** How a store's process is started. */
export interface DispatcherOptions {
  args: string[];
  environment: Record<string, string>;
  port: number;
  onOutput: (text: string) => void;
}

/** A process of the command that runs the store, which is started anew when it ends. */
export class StoreDispatcher {
  private process: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();
  private isOver = false;
  private last = "";

  constructor(private readonly options: DispatcherOptions) {}

  /** Starts it, and waits until it takes messages in. */
  async start(): Promise<void> {
    this.launch();
    const deadline = Date.now() + READY_TIMEOUT_MS;
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${this.options.port}/readyz`).catch(() => undefined);
      await response?.text();
      if (response?.ok) return;
      if (Date.now() > deadline) throw new Error(`the store did not start; it says:\n${this.last}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Ends it with a signal; it comes back by itself. */
  async signal(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const { ended } = this;
    this.process?.kill(signal);
    await ended;
    // What ends at once again and again was never there: it works for a while before it ends anew.
    await new Promise((resolve) => setTimeout(resolve, 700));
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

  private launch(): void {
    const { args, environment, onOutput } = this.options;
    const child = spawn(process.execPath, [command, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...environment, ...marked("round") },
    });
    const read = (data: Buffer): void => {
      this.last = (this.last + data.toString()).slice(-2000);
      onOutput(data.toString());
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    this.process = child;
    this.ended = new Promise((resolve) =>
      child.once("close", () => {
        if (!this.isOver) this.launch();
        resolve();
      }),
    );
  }
}
