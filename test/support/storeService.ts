import { ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fetch } from "undici";
import { freePort } from "../../toolchain/dist/ports";
import type { TestBroker } from "./brokers";
import { afterThisTest } from "./cleanup";
import { ifThisTestTimesOut } from "./timeouts";
import { command } from "./command";

/** Of its log, what helps to understand a test whose time is up. */
const LAST_LINES = 12;

/** The state that a service reports. */
export interface ServiceHealth {
  status: "green" | "red";
  triggered: string[];
  reasons: Record<string, string>;
  isReady: boolean;
}

/** A process that runs `rabbitmq-delay store run`, or `gateway run`, ended after the test. */
export class StoreProcess {
  /** Lines of its log, parsed. */
  readonly log: Record<string, unknown>[] = [];
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  errors = "";

  private constructor(
    private readonly child: ChildProcess,
    private readonly address: string,
    private readonly verb: "store" | "gateway",
  ) {
    let rest = "";
    child.stdout?.on("data", (data: Buffer) => {
      const lines = (rest + data.toString()).split("\n");
      rest = lines.pop() as string;
      this.log.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>));
    });
    child.stderr?.on("data", (data: Buffer) => (this.errors += data.toString()));
    this.ended = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? (signal as string))));
  }

  /** Starts a process, without waiting for it. */
  static async start(
    { node }: TestBroker,
    vhost: string,
    flags: string[],
    environment: Record<string, string> = {},
    verb: "store" | "gateway" = "store",
  ): Promise<StoreProcess> {
    const address = `127.0.0.1:${await freePort()}`;
    const given = [
      verb,
      "run",
      "--amqp",
      `${node.amqpUrl}/${vhost}`,
      "--http",
      address,
      "--log-level",
      "info",
      ...flags,
    ];
    const child = spawn(process.execPath, [command, ...given], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...environment },
    });
    const service = new StoreProcess(child, address, verb);
    ifThisTestTimesOut(() => service.describe());
    afterThisTest(() => service.kill());
    return service;
  }

  /** Starts a process, and waits until it takes messages in. */
  static async ready(...parameters: Parameters<typeof StoreProcess.start>): Promise<StoreProcess> {
    const service = await StoreProcess.start(...parameters);
    await service.untilHealth(({ isReady }) => isReady);
    return service;
  }

  /** Does the same with a gateway. */
  static readyGateway(broker: TestBroker, vhost: string, flags: string[]): Promise<StoreProcess> {
    return StoreProcess.ready(broker, vhost, flags, {}, "gateway");
  }

  async health(): Promise<ServiceHealth | undefined> {
    const response = await fetch(`http://${this.address}/healthz`).catch(() => undefined);
    return response === undefined ? undefined : ((await response.json()) as ServiceHealth);
  }

  /** Waits until its health satisfies a condition; the test's own time limit ends the wait. */
  async untilHealth(isReached: (health: ServiceHealth) => boolean): Promise<void> {
    let isOver = false;
    void this.ended.then(() => (isOver = true));
    for (;;) {
      const health = await this.health();
      if (health !== undefined && isReached(health)) return;
      if (isOver)
        throw new Error(
          `the ${this.verb} ended:\n${this.errors}${this.log.map((line) => JSON.stringify(line)).join("\n")}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Its health, what it printed on standard error, and the end of its log. */
  private async describe(): Promise<string> {
    const lines = this.log.slice(-LAST_LINES).map((line) => JSON.stringify(line));
    return [`${this.verb}: ${JSON.stringify(await this.health())}`, this.errors, ...lines].join("\n");
  }

  /** The status code of a page. */
  async statusOf(path: string): Promise<number> {
    return (await fetch(`http://${this.address}${path}`)).status;
  }

  /** Values of its metrics, by name and labels. */
  async metrics(): Promise<Map<string, number>> {
    const text = await (await fetch(`http://${this.address}/metrics`)).text();
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    return new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
    );
  }

  /** Its metrics, once one of its own has at least a given value. */
  async untilMetric(name: string, value: number): Promise<Map<string, number>> {
    for (;;) {
      const metrics = await this.metrics();
      if ((metrics.get(`rabbitmq_delay_${this.verb}_${name}`) ?? 0) >= value) return metrics;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** The most memory that it has had so far, in MiB. */
  peakMemoryMiB(): number {
    const status = readFileSync(`/proc/${this.child.pid}/status`, "utf8");
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  }

  /** Tells it to end, and returns its exit code. */
  stop(): Promise<number | string> {
    this.child.kill("SIGTERM");
    return this.ended;
  }

  /** Ends it like a power cut. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}
