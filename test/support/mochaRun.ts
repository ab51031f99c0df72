import { ChildProcess, spawn } from "node:child_process";
import { chmodSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProcessesWith } from "../../toolchain/dist/processes";
import { stopAllServers } from "./allServers";
import { RunResult, hasFailed } from "./runResult";
import { removeFolder, stopServersOf } from "./servers";

/** Set in the environment of every process of a run. */
const MARK = "RABBITMQ_DELAY_TEST_RUN";

/** Log files that Pulumi's engine writes into the temporary folder and never removes. */
const ENGINE_LOG = /^pulumi\.(INFO|WARNING|ERROR|[^/]+\.log\.)/;

/** A run of Mocha that ended. */
export interface MochaRun {
  /** Undefined if the run broke off, or ended otherwise than its result says. */
  result: RunResult | undefined;
  /** Names of files and folders that the tests left in the temporary folder. */
  leftovers: string[];
  /** Everything that Mocha printed, if the run is quiet. */
  output: string;
}

/** Options of a run of Mocha. */
export interface MochaRunOptions {
  /** Files that run at the same time. With fewer than 2, Mocha runs a file in its own process, which an open handle keeps alive. @default 2 */
  jobs?: number;
  env?: NodeJS.ProcessEnv;
  /** Returns the output instead of printing it. @default false */
  isQuiet?: boolean;
}

/**
 * Runs test files with Mocha, in processes and a temporary folder of their own, and stops what the run leaves behind.
 * @throws Error if this process was told to end meanwhile
 */
export async function runMocha(
  files: string[],
  { jobs = 2, env = {}, isQuiet = false }: MochaRunOptions = {},
): Promise<MochaRun> {
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-run-"));
  const [temporary, resultFile, outputFile] = [
    join(folder, "tmp"),
    join(folder, "result.json"),
    join(folder, "output"),
  ];
  const signals = new PassedSignals();
  try {
    mkdirSync(temporary);
    // Brokers and databases run as users of their own.
    chmodSync(folder, 0o755);
    chmodSync(temporary, 0o1777);
    // Not a pipe, which whatever the tests leave running would keep open.
    const output = isQuiet ? openSync(outputFile, "w") : "inherit";
    const args = [require.resolve("mocha/bin/mocha.js"), "--parallel", "--jobs", `${jobs}`, ...files];
    const child = spawn(process.execPath, args, {
      // Its processes are one group, which can be ended as a whole.
      detached: true,
      stdio: ["ignore", output, output],
      env: { ...process.env, ...env, TMPDIR: temporary, [MARK]: temporary, RABBITMQ_DELAY_TEST_RESULT: resultFile },
    });
    if (output !== "inherit") closeSync(output);
    const code = await codeOf(child, signals).finally(() => stopServers(temporary));
    if (signals.last !== undefined) throw new Error(`ended by ${signals.last}`);
    const written = existsSync(resultFile) ? (JSON.parse(readFileSync(resultFile, "utf8")) as RunResult) : undefined;
    const isWhole = written !== undefined && (code === 0 || (code !== null && hasFailed(written)));
    return {
      result: isWhole ? written : undefined,
      leftovers: readdirSync(temporary).filter((name) => !ENGINE_LOG.test(name)),
      output: isQuiet ? readFileSync(outputFile, "utf8") : "",
    };
  } finally {
    removeFolder(folder);
    signals.close();
  }
}

/** Waits for the end of the process, and ends what it has left of its group. @returns its exit code, or null if a signal ended it */
async function codeOf(child: ChildProcess, signals: PassedSignals): Promise<number | null> {
  signals.passTo(child);
  const code = await new Promise<number | null>((end, reject) => child.on("error", reject).on("exit", end));
  endGroup(child);
  return code;
}

/** Stops what the tests have left: servers, and e.g. what a checkout's commands have started, or plugins of an engine that was killed. */
async function stopServers(temporary: string): Promise<void> {
  await stopServersOf(temporary, stopAllServers);
  await endProcessesWith(MARK, temporary, 0);
}

/** Signals to this process, which end another one, and not this one before it has cleaned up. */
class PassedSignals {
  last: NodeJS.Signals | undefined;
  private child: ChildProcess | undefined;

  constructor() {
    for (const signal of TOLD) process.on(signal, this.note);
  }

  passTo(child: ChildProcess): void {
    this.child = child;
    if (this.last !== undefined) child.kill(this.last);
  }

  close(): void {
    for (const signal of TOLD) process.off(signal, this.note);
  }

  private readonly note = (signal: NodeJS.Signals): void => {
    this.last = signal;
    this.child?.kill(signal);
  };
}

const TOLD = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid as number), "SIGKILL");
  } catch {
    // All of it has ended.
  }
}
