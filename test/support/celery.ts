import { ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { afterThisTest } from "./cleanup";
import { pythonPackages } from "./pythonPackages";
import { ifThisTestTimesOut } from "./timeouts";

const requirements = join(root, "test", "celery", "requirements.txt");
/** The service of examples/celery, which tests run as it is. */
const service = join(root, "examples", "celery", "service");
/** What a worker asks of the broker beyond its queues and the network, switched off. */
const QUIET = ["--without-gossip", "--without-mingle", "--without-heartbeat"];

/** Who a Celery process is, and where. */
export interface CeleryOptions {
  /** Address of the broker with login and vhost. */
  url: string;
  /** The one queue of the application. */
  queue?: string;
  /** Further environment. */
  environment?: Record<string, string>;
}

async function environmentOf({ url, queue = "orders", environment = {} }: CeleryOptions): Promise<NodeJS.ProcessEnv> {
  const folder = await pythonPackages("celery-5.7.0", requirements);
  const own = { RABBITMQ_URL: url, QUEUE: queue, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
  return { ...process.env, ...own, ...environment };
}

/**
 * Sends tasks with countdowns by the real library.
 * @returns when each of them is due, in milliseconds, once all are confirmed
 * @throws Error with the library's own
 */
export async function sendTasks(
  options: CeleryOptions,
  countdownsSeconds: Record<string, number>,
): Promise<Map<string, number>> {
  const args = Object.entries(countdownsSeconds).flatMap(([order, seconds]) => [order, String(seconds)]);
  const env = await environmentOf(options);
  const output = await run("python3", [join(service, "send.py"), ...args], { env, cwd: service });
  const sent = [...output.matchAll(/^sending (\S+) at ([\d.]+)$/gm)] as unknown as [string, string, string][];
  return new Map(
    sent.map(([, order, seconds]) => [order, (Number(seconds) + (countdownsSeconds[order] ?? 0)) * 1000] as const),
  );
}

/** Sends a task at once and one with a countdown of a second by an application that declares nothing. */
export async function sendWithoutDeclaring(options: CeleryOptions): Promise<void> {
  await run("python3", [join(root, "test", "celery", "send_only.py")], { env: await environmentOf(options) });
}

/** What the library's own code does when a worker starts and a sender sends, again and again; see test/celery/rights.py. */
export class CeleryAttempts {
  private readonly answers: AsyncIterator<string>;

  private errors = "";

  private constructor(private readonly child: ChildProcess) {
    // The library writes a line for each refusal.
    child.stderr?.on("data", (data: Buffer) => (this.errors += data.toString()));
    this.answers = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  }

  /** @param countdownsSeconds what is sent in each attempt */
  static async of(
    role: "worker" | "sender",
    options: CeleryOptions,
    countdownsSeconds: number[],
  ): Promise<CeleryAttempts> {
    const env = await environmentOf(options);
    const args = [join(root, "test", "celery", "rights.py"), role, ...countdownsSeconds.map(String)];
    const child = spawn("python3", args, {
      env: { ...env, PYTHONPATH: `${env.PYTHONPATH}:${service}` },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const ended = new Promise((resolve) => child.on("close", resolve));
    afterThisTest(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    return new CeleryAttempts(child);
  }

  /** @returns `ok`, `refused` by the broker, or what else failed */
  async attempt(): Promise<string> {
    this.child.stdin?.write("\n");
    const { value } = (await this.answers.next()) as { value?: string };
    return value ?? `the process ended: ${this.errors}`;
  }
}

/** A real Celery worker, in a process of its own that ends with the test at the latest. */
export class CeleryWorker {
  /** All that it printed. */
  output = "";
  private isOver = false;
  private readonly ended: Promise<void>;

  private constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (data: Buffer) => (this.output += data.toString()));
    this.ended = new Promise((resolve) =>
      child.on("close", () => {
        this.isOver = true;
        resolve();
      }),
    );
  }

  static async start(options: CeleryOptions): Promise<CeleryWorker> {
    const args = ["-m", "celery", "--app", "shop", "worker", "--pool", "solo", "--loglevel", "INFO", ...QUIET];
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    const worker = new CeleryWorker(spawn("python3", args, { cwd: service, env: await environmentOf(options), stdio }));
    afterThisTest(() => worker.stop());
    return worker;
  }

  /** Waits until it has printed something, `count` times. @throws Error with its output if it ends before */
  async until(pattern: RegExp, count = 1): Promise<void> {
    ifThisTestTimesOut(() => `no ${pattern} from the worker:\n${this.output}`);
    while ((this.output.match(new RegExp(pattern, "g")) ?? []).length < count) {
      if (this.isOver) throw new Error(`the worker ended without ${pattern}:\n${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** The orders that it was reminded of, with the time of each, in milliseconds. */
  reminded(): { order: string; atMs: number }[] {
    return [...this.output.matchAll(/reminded (\S+) at ([\d.]+)$/gm)].map(([, order, seconds]) => ({
      order: order as string,
      atMs: Number(seconds) * 1000,
    }));
  }

  async stop(): Promise<void> {
    if (!this.isOver) this.child.kill("SIGKILL");
    await this.ended;
  }
}
