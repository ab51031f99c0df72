import { ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Engine, findEngine } from "../../toolchain/dist/engine";
import { root } from "../../toolchain/dist/paths";
import type { Review } from "../../packages/cli/dist/review/review";
import type { TestBroker } from "./brokers";
import { afterThisTest } from "./cleanup";

/** One planned step of `pulumi preview --json`. */
export interface Step {
  op: string;
  urn: string;
  oldState?: StateResource;
  newState?: StateResource;
}

/** A resource of a stack's state. */
export interface StateResource {
  urn: string;
  type: string;
  parent?: string;
  retainOnDelete?: boolean;
  inputs: Record<string, unknown>;
  outputs?: Record<string, unknown>;
}

/** How a run of `pulumi` ended. */
export interface RunEnd {
  code: number | null;
  output: string;
}

/** The config of a test's stack; see program/config.ts. */
export interface StackConfig {
  network: Record<string, unknown>;
  endpoints?: unknown[];
  retryIntervals?: Record<string, unknown>;
  workQueues?: unknown[];
  holdQueues?: Record<string, unknown>;
  delayedRetryQueues?: unknown[];
  delayedStore?: Record<string, unknown>;
  storePassword?: string;
  removal?: "retain" | "delete";
  production?: boolean;
  allow?: string[];
  formerOwners?: string[];
  broker?: Record<string, unknown>;
  cluster?: Record<string, unknown>;
  createVhost?: boolean;
  brokerPassword?: string;
}

const NAME = "test";
/** What a failed run of `pulumi` shows of its output. */
const ERROR_LINES = 30;
/** Less than a test may take, so that a hanging run is killed and shown. */
const RUN_LIMIT_MS = 120_000;
let engine: Promise<Engine> | undefined;

/** The real program under the real engine, in a state of its own. */
export class TestStack {
  private constructor(
    private readonly folder: string,
    private readonly engine: Engine,
    private readonly broker: TestBroker,
    readonly vhost: string,
    private readonly program: string,
    private readonly backend: string,
  ) {}

  /** What runs of `pulumi` get beside their usual environment; the folders come before those of PATH. */
  private more: { folders: string[]; variables: Record<string, string> } = { folders: [], variables: {} };

  /**
   * @param program folder of another program than the project's own
   * @param beside a stack whose backend is used too, so that one can refer to the other
   */
  static async create(broker: TestBroker, vhost: string, program = root, beside?: TestStack): Promise<TestStack> {
    engine ??= findEngine(() => undefined);
    const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-stack-"));
    const stack = new TestStack(folder, await engine, broker, vhost, program, beside?.backend ?? folder);
    afterThisTest(() => stack.remove());
    stack.configure({ network: { preset: "celery" } });
    // Initialized from a folder of its own, or the engine would write a config file into the program's.
    const project = /^name: .*$/m.exec(readFileSync(join(program, "Pulumi.yaml"), "utf8"))?.[0];
    writeFileSync(join(folder, "Pulumi.yaml"), `${project}\nruntime: nodejs\n`);
    await stack.mustRun(["stack", "init", NAME, "--cwd", folder]);
    return stack;
  }

  /** The project's own program in a vhost of its own, as most tests want it. */
  static async inNewVhost(broker: TestBroker): Promise<TestStack> {
    return TestStack.create(broker, await broker.management.createVhost());
  }

  /** Sets the stack's config, whole. */
  configure(config: StackConfig): void {
    const salt = /^encryptionsalt: (.*)$/m.exec(readFileSync(join(root, "Pulumi.dev.yaml"), "utf8"))?.[1];
    const place = config.cluster === undefined ? { managementUrl: this.broker.node.managementUrl } : {};
    const broker = { ...place, vhost: this.vhost, ...config.broker };
    const entries = Object.entries({ removal: "delete", ...config, broker }).map(([key, value]) => [
      `rabbitmq-delay:${key}`,
      value,
    ]);
    writeFileSync(this.configFile, JSON.stringify({ config: Object.fromEntries(entries), encryptionsalt: salt }));
  }

  /** Sets the config of another project's stack, whole. */
  configureProject(project: string, config: Record<string, string>): void {
    const salt = /^encryptionsalt: (.*)$/m.exec(readFileSync(join(root, "Pulumi.dev.yaml"), "utf8"))?.[1];
    const entries = Object.entries(config).map(([key, value]) => [`${project}:${key}`, value]);
    writeFileSync(this.configFile, JSON.stringify({ config: Object.fromEntries(entries), encryptionsalt: salt }));
  }

  /** Takes a stack's config file of the project's own as it stands. */
  configureFrom(file: string): void {
    const salt = /^encryptionsalt: .*$/m.exec(readFileSync(join(root, "Pulumi.dev.yaml"), "utf8"))?.[0];
    writeFileSync(this.configFile, `${readFileSync(join(root, file), "utf8")}\n${salt}\n`);
  }

  /** Adds folders to PATH, for plugins, and variables. */
  extend(folders: string[], variables: Record<string, string>): void {
    this.more = { folders, variables };
  }

  up(...more: string[]): Promise<RunEnd> {
    return this.mustRun(["up", "--yes", "--skip-preview", "--stack", NAME, ...more]);
  }

  async destroy(): Promise<void> {
    await this.mustRun(["destroy", "--yes", "--skip-preview", "--stack", NAME]);
  }

  refresh(): Promise<RunEnd> {
    return this.mustRun(["refresh", "--yes", "--skip-preview", "--stack", NAME]);
  }

  /** What `up` would do, without what stays the same and what is only read. */
  async preview(...more: string[]): Promise<Step[]> {
    const { output } = await this.mustRun(["preview", "--json", "--stack", NAME, ...more]);
    return ((JSON.parse(output) as { steps?: Step[] }).steps ?? []).filter(
      ({ op }) => !["same", "refresh", "read"].includes(op),
    );
  }

  /** The same for its duration alone, as a person runs it. */
  previewAsText(): Promise<RunEnd> {
    return this.mustRun(["preview", "--stack", NAME]);
  }

  /** What `rabbitmq-delay review --stack` says of this stack's preview; the report is undefined where it printed none. */
  async review(...more: string[]): Promise<RunEnd & { report: Review | undefined }> {
    const end = await this.reviewAsText("json", ...more);
    const json = end.output.slice(0, end.output.lastIndexOf("}") + 1);
    return { ...end, report: json.startsWith("{") ? (JSON.parse(json) as Review) : undefined };
  }

  /** The same in the form that people read. */
  reviewAsText(format: string, ...more: string[]): Promise<RunEnd> {
    const command = join(root, "packages", "cli", "bin", "rabbitmq-delay.js");
    const args = [command, "review", "--format", format, "--stack", NAME, "--config-file", this.configFile, ...more];
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, args, { cwd: this.program, env: this.environment });
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (data: Buffer) => (output += data.toString()));
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, output }));
    });
  }

  async outputs(): Promise<Record<string, unknown>> {
    return JSON.parse((await this.mustRun(["stack", "output", "--json", "--stack", NAME])).output) as Record<
      string,
      unknown
    >;
  }

  async resources(): Promise<StateResource[]> {
    const { output } = await this.mustRun(["stack", "export", "--stack", NAME]);
    return (JSON.parse(output) as { deployment: { resources?: StateResource[] } }).deployment.resources ?? [];
  }

  async cancel(): Promise<void> {
    await this.mustRun(["cancel", "--yes", "--stack", NAME]);
  }

  /** Removes its files; tests needn't, they are removed with the test. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs `pulumi`, and takes any end of it. */
  run(args: string[], onStart: (child: ChildProcess) => void = () => undefined): Promise<RunEnd> {
    return new Promise((resolve, reject) => {
      const child = spawn(
        "pulumi",
        [...args, "--config-file", this.configFile].slice(0, isConfigured(args) ? undefined : args.length),
        {
          cwd: this.program,
          env: this.environment,
          stdio: ["ignore", "pipe", "pipe"],
          detached: true,
        },
      );
      let [output, errors] = ["", ""];
      child.stdout.on("data", (data: Buffer) => (output += data.toString()));
      child.stderr.on("data", (data: Buffer) => (errors += data.toString()));
      const timer = setTimeout(() => {
        output += `\nkilled after ${RUN_LIMIT_MS / 1000} s`;
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      }, RUN_LIMIT_MS);
      child.on("error", reject);
      child.on("close", (code) => {
        clearTimeout(timer);
        resolve({ code, output: args.includes("--json") && code === 0 ? output : output + errors });
      });
      onStart(child);
    });
  }

  private async mustRun(args: string[]): Promise<RunEnd> {
    const end = await this.run(args);
    if (end.code === 0) return end;
    const lines = end.output.trim().split("\n");
    throw new Error(`pulumi ${args.join(" ")} ended with ${end.code}:\n${lines.slice(-ERROR_LINES).join("\n")}`);
  }

  /** The stack's state as it lies on disk. */
  get stateFile(): string {
    const [project] = readdirSync(join(this.backend, ".pulumi", "stacks"));
    return join(this.backend, ".pulumi", "stacks", project as string, `${NAME}.json`);
  }

  private get configFile(): string {
    return join(this.folder, `Pulumi.${NAME}.yaml`);
  }

  /** What `pulumi` needs to use this stack's backend. */
  get environment(): NodeJS.ProcessEnv {
    return {
      PATH: [this.engine.binFolder, ...this.more.folders, process.env.PATH].join(":"),
      HOME: process.env.HOME,
      PULUMI_HOME: this.engine.home,
      PULUMI_BACKEND_URL: `file://${this.backend}`,
      PULUMI_CONFIG_PASSPHRASE: "dev",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_EXPERIMENTAL: "true",
      PULUMI_SKIP_CHECKPOINTS: "true",
      ...this.more.variables,
    };
  }
}

/** Which commands read the stack's config. */
function isConfigured(args: string[]): boolean {
  return ["up", "preview", "destroy", "refresh"].includes(args[0] ?? "");
}
