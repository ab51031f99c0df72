import { ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Engine, findEngine } from "../../toolchain/dist/engine";
import { root } from "../../toolchain/dist/paths";
import type { Review } from "@rabbitmq-delay/review";
import type { TestBroker } from "./brokers";
import { afterThisTest } from "./cleanup";
import { hostProgram } from "./hostedPrograms";
import { keyServer, keyServerEnvironment } from "./keyServer";
import { runFolder } from "./servers";

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
  network?: Record<string, unknown>;
  networks?: Record<string, Record<string, unknown>>;
  current?: string;
  endpoints?: unknown[];
  retryIntervals?: Record<string, unknown>;
  workQueues?: unknown[];
  holdQueues?: Record<string, unknown>;
  delayedRetryQueues?: unknown[];
  delayedExchanges?: unknown[];
  errorQueues?: string[];
  delayedStore?: Record<string, unknown>;
  storePassword?: string;
  delayGateway?: Record<string, unknown>;
  gatewayPassword?: string;
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
/** How much of its output a failed run of `pulumi` shows. */
const ERROR_LINES = 30;
/** Less than a test may take, so that a hanging run is killed and shown. */
const RUN_LIMIT_MS = 400_000;
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
    private readonly keys: Record<string, string>,
  ) {}

  /** Whether each run starts a process for the program, as a user's does; for what measures runs. */
  startsPrograms = false;

  /** Additional environment for runs of `pulumi`; the folders come before those of PATH. */
  private more: { folders: string[]; variables: Record<string, string> } = { folders: [], variables: {} };

  /**
   * @param program folder of another program than the project's own
   * @param beside a stack whose backend is shared, so that one can refer to the other
   */
  static async create(broker: TestBroker, vhost: string, program = root, beside?: TestStack): Promise<TestStack> {
    engine ??= findEngine(() => undefined);
    const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-stack-"));
    const keys = await keyServerEnvironment();
    const stack = new TestStack(folder, await engine, broker, vhost, program, beside?.backend ?? folder, keys);
    afterThisTest(() => stack.remove());
    stack.configure({ network: { preset: "celery" } });
    stack.init();
    return stack;
  }

  /** Creates the project's own program in a vhost of its own, as most tests need it. */
  static async inNewVhost(broker: TestBroker): Promise<TestStack> {
    return TestStack.create(broker, await broker.management.createVhost());
  }

  /** Writes the files that `pulumi stack init` would write, without the second that it takes. */
  private init(): void {
    const folder = dirname(this.stateFile);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(this.backend, ".pulumi", "meta.yaml"), "version: 1\n");
    const latest = {
      manifest: { time: new Date().toISOString(), magic: "", version: "" },
      secrets_providers: { type: "cloud", state: { url: keyServer.url, encryptedkey: keyServer.encryptedKey } },
      metadata: {},
    };
    const checkpoint = { stack: `organization/${this.project}/${NAME}`, latest };
    writeFileSync(this.stateFile, JSON.stringify({ version: 3, checkpoint }));
  }

  /** Replaces the stack's config. */
  configure(config: StackConfig): void {
    const place = config.cluster === undefined ? { managementUrl: this.broker.node.managementUrl } : {};
    const broker = { ...place, vhost: this.vhost, ...config.broker };
    const entries = Object.entries({ removal: "delete", ...config, broker }).map(([key, value]) => [
      `rabbitmq-delay:${key}`,
      value,
    ]);
    this.writeConfig(Object.fromEntries(entries));
  }

  private writeConfig(config: Record<string, unknown>): void {
    const { url: secretsprovider, encryptedKey: encryptedkey } = keyServer;
    writeFileSync(this.configFile, JSON.stringify({ config, secretsprovider, encryptedkey }));
  }

  /** Replaces the config of another project's stack. */
  configureProject(project: string, config: Record<string, string>): void {
    const entries = Object.entries(config).map(([key, value]) => [`${project}:${key}`, value]);
    this.writeConfig(Object.fromEntries(entries));
  }

  /** Uses a stack's config file of the project unchanged. */
  configureFrom(file: string): void {
    const text = readFileSync(join(root, file), "utf8");
    writeFileSync(this.configFile, `${text}\nencryptionsalt: ${encryptionSalt()}\n`);
  }

  /** Adds variables, and folders on PATH for plugins. */
  extend(folders: string[], variables: Record<string, string>): void {
    this.more = { folders, variables };
  }

  up(...more: string[]): Promise<RunEnd> {
    return this.mustRun(["up", "--yes", "--skip-preview", "--stack", NAME, ...more]);
  }

  /**
   * Configures a new stack and brings it up, if a test only starts from it. The engine does it the first time; later calls copy the state
   * and the vhost as the engine left them.
   * @throws Error if the stack already has resources
   */
  async bringUp(config: StackConfig): Promise<void> {
    if (readFileSync(this.stateFile, "utf8").includes('"resources"'))
      throw new Error("bringUp: only a new stack is brought up as a copy");
    this.configure(config);
    const { management } = this.broker;
    const here = { "@VHOST@": this.vhost, "@MANAGEMENT_URL@": management.url };
    const recording = recordingOf([this.program, this.project, await management.version(), replaceAll(config, here)]);
    if (!existsSync(recording)) {
      await this.up();
      const state = JSON.parse(readFileSync(this.stateFile, "utf8")) as object;
      const definitions = await management.get<object>(`definitions/${this.vhost}`);
      writeFileSync(`${recording}.${process.pid}`, JSON.stringify(replaceAll({ state, definitions }, here)));
      renameSync(`${recording}.${process.pid}`, recording);
      return;
    }
    const there = Object.fromEntries(Object.entries(here).map(([name, value]) => [value, name]));
    const recorded = JSON.parse(readFileSync(recording, "utf8")) as { state: object; definitions: object };
    const { state, definitions } = replaceAll(recorded, there);
    writeFileSync(this.stateFile, JSON.stringify(state));
    await management.call("POST", `definitions/${this.vhost}`, definitions);
  }

  async destroy(): Promise<void> {
    await this.mustRun(["destroy", "--yes", "--skip-preview", "--stack", NAME]);
  }

  refresh(): Promise<RunEnd> {
    return this.mustRun(["refresh", "--yes", "--skip-preview", "--stack", NAME]);
  }

  /** The planned steps of `up`, without those that change nothing or only read. */
  async preview(...more: string[]): Promise<Step[]> {
    const { output } = await this.mustRun(["preview", "--json", "--stack", NAME, ...more]);
    return ((JSON.parse(output) as { steps?: Step[] }).steps ?? []).filter(
      ({ op }) => !["same", "refresh", "read"].includes(op),
    );
  }

  /** Runs the preview as a user does, only for its duration. */
  previewAsText(): Promise<RunEnd> {
    return this.mustRun(["preview", "--stack", NAME]);
  }

  /** Runs `rabbitmq-delay review --stack` on this stack's preview; the report is undefined if it printed none. */
  async review(...more: string[]): Promise<RunEnd & { report: Review | undefined }> {
    const end = await this.reviewAsText("json", ...more);
    const json = end.output.slice(0, end.output.lastIndexOf("}") + 1);
    return { ...end, report: json.startsWith("{") ? (JSON.parse(json) as Review) : undefined };
  }

  /** Runs the review in a form for readers. */
  async reviewAsText(format: string, ...more: string[]): Promise<RunEnd> {
    const command = join(root, "packages", "cli", "bin", "rabbitmq-delay.js");
    const args = [command, "review", "--format", format, "--stack", NAME, "--stack-config", this.configFile, ...more];
    const hosted = this.isPlain ? await hostProgram(this.program) : undefined;
    const env = hosted === undefined ? this.environment : this.hostedEnvironment(hosted.address);
    let written = "";
    const end = await new Promise<RunEnd>((resolve, reject) => {
      const child = spawn(process.execPath, args, { cwd: this.program, env });
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (data: Buffer) => (output += data.toString()));
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, output }));
    }).finally(async () => (written = (await hosted?.end()) ?? ""));
    return { ...end, output: end.output + written };
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

  /** Removes the stack's files; tests needn't call it, because they are removed with the test. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * Runs `pulumi`, and accepts any outcome.
   * @param onStart gets the process, e.g. to end it; the program then has a process of its own, too
   */
  async run(args: string[], onStart?: (child: ChildProcess) => void): Promise<RunEnd> {
    if (!args.includes("--refresh") && !args.includes("refresh")) return this.runOnce(args, onStart);
    for (let tries = 1; ; tries++) {
      // What is wrong with the broker, the run itself tells.
      await this.broker.management.untilReadable(this.vhost).catch(() => undefined);
      const end = await this.runOnce(args, onStart);
      // The management API may come to list a consumer only afterwards; the provider fails then before anything is changed.
      if (tries === 3 || !/cannot unmarshal array into Go struct field ConsumerDetail/.test(end.output)) return end;
      console.warn("the management API came to list a consumer during a refresh, which is repeated");
    }
  }

  private async runOnce(args: string[], onStart?: (child: ChildProcess) => void): Promise<RunEnd> {
    const isHosted = onStart === undefined && RUNS_PROGRAM.includes(args[0] ?? "") && this.isPlain;
    const hosted = isHosted ? await hostProgram(this.program) : undefined;
    const more = [
      ...(isConfigured(args) ? ["--config-file", this.configFile] : []),
      ...(hosted === undefined ? [] : [`--client=${hosted.address}`]),
    ];
    const run = await this.spawn([...args, ...more], onStart).catch(async (error: unknown) => {
      await hosted?.end();
      throw error;
    });
    const written = (await hosted?.end()) ?? "";
    return args.includes("--json") && run.code === 0 ? run : { ...run, output: run.output + written };
  }

  /** Whether the program is Node's, and needs no environment of its own; folders of plugins are the engine's alone. */
  private get isPlain(): boolean {
    const file = readFileSync(join(this.program, "Pulumi.yaml"), "utf8");
    return !this.startsPrograms && Object.keys(this.more.variables).length === 0 && /name: nodejs/.test(file);
  }

  /** The environment of a command that runs `pulumi` itself, with a program that is hosted elsewhere. */
  private hostedEnvironment(address: string): NodeJS.ProcessEnv {
    const { PATH, ...others } = this.environment;
    return {
      ...others,
      PATH: `${join(__dirname, "hostedEngine")}:${PATH}`,
      RABBITMQ_DELAY_TEST_ENGINE: join(this.engine.binFolder, "pulumi"),
      RABBITMQ_DELAY_TEST_CLIENT: address,
    };
  }

  private spawn(args: string[], onStart: (child: ChildProcess) => void = () => undefined): Promise<RunEnd> {
    return new Promise((resolve, reject) => {
      const child = spawn("pulumi", args, {
        cwd: this.program,
        env: this.environment,
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
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
    // The engine tells the stack's outputs after what failed, and they may be longer.
    const told = end.output
      .replace(/^Outputs:\n(?: .*\n)*/m, "")
      .trim()
      .split("\n");
    throw new Error(`pulumi ${args.join(" ")} ended with ${end.code}:\n${told.slice(-ERROR_LINES).join("\n")}`);
  }

  /** The file of the stack's state on disk. */
  get stateFile(): string {
    return join(this.backend, ".pulumi", "stacks", this.project, `${NAME}.json`);
  }

  private get project(): string {
    const file = readFileSync(join(this.program, "Pulumi.yaml"), "utf8");
    return /^name: (.*)$/m.exec(file)?.[1] as string;
  }

  /** Its config, which commands read, too. */
  get configFile(): string {
    return join(this.folder, `Pulumi.${NAME}.yaml`);
  }

  /** The environment that `pulumi` needs to use this stack's backend. */
  get environment(): NodeJS.ProcessEnv {
    return {
      PATH: [this.engine.binFolder, ...this.more.folders, process.env.PATH].join(":"),
      HOME: process.env.HOME,
      // A run that is killed leaves the pipes of its language host there.
      TMPDIR: this.folder,
      NODE_OPTIONS: process.env.NODE_OPTIONS,
      RABBITMQ_DELAY_TEST_COMPILED: process.env.RABBITMQ_DELAY_TEST_COMPILED,
      RABBITMQ_DELAY_TEST_RUN: process.env.RABBITMQ_DELAY_TEST_RUN,
      PULUMI_HOME: this.engine.home,
      PULUMI_BACKEND_URL: `file://${this.backend}`,
      PULUMI_CONFIG_PASSPHRASE: "dev",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_EXPERIMENTAL: "true",
      PULUMI_SKIP_CHECKPOINTS: "true",
      ...this.keys,
      ...this.more.variables,
    };
  }
}

/** The salt of stack dev, whose passphrase tests use. */
function encryptionSalt(): string {
  return /^encryptionsalt: (.*)$/m.exec(readFileSync(join(root, "Pulumi.dev.yaml"), "utf8"))?.[1] as string;
}

/** Where the engine's result for a program and its config is kept for the rest of the run. */
function recordingOf(made: unknown): string {
  const name = createHash("sha1").update(JSON.stringify(made)).digest("hex");
  return join(runFolder("stacks"), `${name}.json`);
}

/** Replaces each of the texts in a value by the name given for it. */
function replaceAll<T>(value: T, names: Record<string, string>): T {
  const text = Object.entries(names).reduce(
    (changed, [name, old]) => changed.replaceAll(old, name),
    JSON.stringify(value),
  );
  return JSON.parse(text) as T;
}

/** What runs the program, beside what only reads the config. */
const RUNS_PROGRAM = ["up", "preview"];

/** Whether a command reads the stack's config. */
function isConfigured(args: string[]): boolean {
  return ["up", "preview", "destroy", "refresh"].includes(args[0] ?? "");
}
