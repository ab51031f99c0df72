import { ChildProcess, ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProcessesWith } from "../../toolchain/dist/processes";
import { root } from "../../toolchain/dist/paths";
import { afterThisTest } from "./cleanup";

/** The files that a checkout needs in its own folder, and those that it may share. */
const COPIED = [
  "toolchain/dist",
  "toolchain/go",
  "Pulumi.yaml",
  "Pulumi.dev.yaml",
  "Pulumi.staging.yaml",
  "Pulumi.prod.yaml",
  "package.json",
  "program.js",
];
const SHARED = [
  "node_modules",
  "dist",
  "packages",
  "components",
  "examples",
  "plugin",
  "program",
  "Makefile",
  "index.ts",
  "tsconfig.json",
  "tsconfig.base.json",
];
/** Set in the environment of every process that a checkout's commands start. */
const MARK = "RABBITMQ_DELAY_TEST_CHECKOUT";

/** How a command ended. */
export interface CommandEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

/** A second checkout of this project, compiled, with a broker and a state of its own. */
export class Checkout {
  readonly folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-checkout-"));

  constructor() {
    for (const path of COPIED) {
      mkdirSync(join(this.folder, path, ".."), { recursive: true });
      cpSync(join(root, path), join(this.folder, path), { recursive: true });
    }
    mkdirSync(join(this.folder, "tmp"));
    for (const path of SHARED) symlinkSync(join(root, path), join(this.folder, path));
    afterThisTest(() => this.remove());
  }

  /** Runs a command of the toolchain, in a process group of its own and without a terminal. */
  run(
    args: string[],
    variables: Record<string, string> = {},
    onStart: (child: ChildProcess) => void = () => undefined,
  ): Promise<CommandEnd> {
    return this.node([join(this.folder, "toolchain", "dist", "main.js"), ...args], variables, onStart);
  }

  /** Runs Node on this checkout. */
  node(
    args: string[],
    variables: Record<string, string> = {},
    onStart: (child: ChildProcess) => void = () => undefined,
  ): Promise<CommandEnd> {
    return new Promise((resolve, reject) => {
      const child = this.start(process.execPath, args, variables);
      let [out, err] = ["", ""];
      child.stdout.on("data", (data: Buffer) => (out += data.toString()));
      child.stderr.on("data", (data: Buffer) => (err += data.toString()));
      child.once("error", reject);
      // Not "close": a process that outlives the command may hold its output open.
      child.once("exit", (code, signal) => resolve({ code, signal, out, err }));
      onStart(child);
    });
  }

  /** Starts a program in this checkout, without the addresses of other brokers. */
  start(program: string, args: string[], variables: Record<string, string> = {}): ChildProcessWithoutNullStreams {
    const none = { RABBITMQ_URL: undefined, RABBITMQ_MANAGEMENT_URL: undefined, RABBITMQ_DELAY_BROKER: undefined };
    return spawn(program, args, {
      cwd: this.folder,
      // A command that is killed leaves its own temporary files there.
      env: { ...process.env, TMPDIR: join(this.folder, "tmp"), ...none, ...variables, [MARK]: this.folder },
      detached: true,
    });
  }

  /** A variable by which the processes started from a checkout can be recognized. */
  get mark(): [name: string, value: string] {
    return [MARK, this.folder];
  }

  private async remove(): Promise<void> {
    await this.run(["clean"]);
    await endProcessesWith(...this.mark, 0);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
