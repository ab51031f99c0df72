import { ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { History, HistoryEvent } from "./history";
import { ownEnd } from "./ownEnd";

/** Marks processes that a run started, so that it finds those that it left behind. */
export const markVariable = "RABBITMQ_DELAY_GAUNTLET";

/** The environment of a process that this run starts for a purpose. */
export function marked(purpose: string): Record<string, string> {
  return { [markVariable]: `${process.pid}-${purpose}` };
}

/** Lines of a file that processes append to, as they come. */
class Lines {
  private offset = 0;
  private rest = "";

  constructor(private readonly file: string) {}

  read(): string[] {
    if (!existsSync(this.file)) return [];
    const descriptor = openSync(this.file, "r");
    try {
      const chunk = Buffer.alloc(1 << 16);
      for (;;) {
        const count = readSync(descriptor, chunk, 0, chunk.length, this.offset);
        if (count === 0) break;
        this.offset += count;
        this.rest += chunk.toString("utf8", 0, count);
      }
    } finally {
      closeSync(descriptor);
    }
    const lines = this.rest.split("\n");
    this.rest = lines.pop() as string;
    return lines;
  }
}

/** What is kept of what a process says before it ends. */
const MOST_SAID = 4000;

/** What a child process is started with. */
export interface ChildOptions {
  program: string;
  task: { part: string; [name: string]: unknown };
  environment: Record<string, string>;
  folder: string;
  history: History;
  /** What it prints. */
  onOutput: (text: string) => void;
}

/** A consumer in a process of its own, which is started anew when it ends. Its events come by a file. */
export class Child {
  private process: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();
  /** Whether it refuses to consume what was declared: then nothing is published for it. */
  isRefused = false;
  private isOver = false;
  private isReady: () => void = () => undefined;
  private readonly lines: Lines;
  private readonly taskFile: string;

  constructor(private readonly options: ChildOptions) {
    const { folder, task, program } = options;
    const name = join(folder, `${task.part}-${basename(program)}`);
    this.taskFile = `${name}.task`;
    this.lines = new Lines(`${name}.events`);
    writeFileSync(this.taskFile, JSON.stringify({ ...task, events: `${name}.events` }));
  }

  /** Starts it, and resolves when it consumes. */
  start(): Promise<void> {
    const ready = new Promise<void>((resolve) => (this.isReady = resolve));
    this.launch();
    return ready;
  }

  /** Ends it with a signal; it comes back by itself. */
  async signal(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const { ended } = this;
    this.process?.kill(signal);
    await ended;
  }

  /** Stands still for a while, as a machine under load or a moved virtual one does. */
  async pause(forMs: number): Promise<void> {
    const paused = this.process;
    paused?.kill("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, forMs));
    paused?.kill("SIGCONT");
  }

  /** Takes over what it noted. */
  poll(): void {
    const { history } = this.options;
    for (const line of this.lines.read()) {
      const event = JSON.parse(line) as HistoryEvent | { kind: "ready"; isRefused?: boolean };
      if (event.kind === "ready") {
        this.isRefused ||= event.isRefused === true;
        this.isReady();
      } else history.events.push(event);
    }
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    this.isOver = true;
    const timer = setTimeout(() => this.process?.kill("SIGKILL"), 10_000);
    this.process?.kill("SIGTERM");
    await this.ended;
    clearTimeout(timer);
    this.poll();
  }

  private launch(): void {
    const { program, environment, history, onOutput, task } = this.options;
    const child = spawn(process.execPath, [join(__dirname, "programs", program), this.taskFile], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...environment, ...marked("round") },
    });
    let said = "";
    child.stdout.on("data", (data: Buffer) => onOutput(data.toString()));
    child.stderr.on("data", (data: Buffer) => {
      said = (said + data.toString()).slice(-MOST_SAID);
      onOutput(data.toString());
    });
    this.process = child;
    this.ended = new Promise((resolve) =>
      child.once("close", (code) => {
        // A signal is the plan's, and so is an end in order; Node ends with a code by what nobody caught.
        if (code !== null && code !== 0)
          history.record({ kind: "uncaught", part: task.part, error: ownEnd(code, said) });
        if (!this.isOver) this.launch();
        resolve();
      }),
    );
  }
}
