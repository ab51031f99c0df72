import { ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { RunResult } from "./runResult";

/** Cache of the compiler's own code, which ts-node would keep in the temporary folder. */
const COMPILED = { V8_COMPILE_CACHE_CACHE_DIR: resolve("node_modules", ".cache", "v8-compile-cache") };

/** Log files that Pulumi's engine writes into the temporary folder and never removes. */
const ENGINE_LOG = /^pulumi\.(INFO|WARNING|ERROR|[^/]+\.log\.)/;

/** A run of Mocha that ended. */
export interface MochaRun {
  /** Undefined if the run broke off. */
  result: RunResult | undefined;
  /** Names of files and folders that the tests left in the temporary folder. */
  leftovers: string[];
  /** Everything that Mocha printed, if the run is quiet. */
  output: string;
}

/** Options of a run of Mocha. */
export interface MochaRunOptions {
  env?: NodeJS.ProcessEnv;
  /** Returns the output instead of printing it. @default false */
  isQuiet?: boolean;
}

/**
 * Runs Mocha in a process and a temporary folder of its own.
 * @param args files, and options beside those of .mocharc.js
 */
export async function runMocha(args: string[], { env = {}, isQuiet = false }: MochaRunOptions = {}): Promise<MochaRun> {
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-run-"));
  const [temporary, file] = [join(folder, "tmp"), join(folder, "result.json")];
  try {
    mkdirSync(temporary);
    // Brokers and databases run as users of their own.
    chmodSync(folder, 0o755);
    chmodSync(temporary, 0o1777);
    const child = spawn(process.execPath, [require.resolve("mocha/bin/mocha.js"), ...args], {
      stdio: ["ignore", isQuiet ? "pipe" : "inherit", isQuiet ? "pipe" : "inherit"],
      env: { ...process.env, ...COMPILED, ...env, TMPDIR: temporary, RABBITMQ_DELAY_TEST_RESULT: file },
    });
    const output = await outputOf(child);
    const result = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as RunResult) : undefined;
    return { result, leftovers: readdirSync(temporary).filter((name) => !ENGINE_LOG.test(name)), output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits for the end of the process, even if this process is told to end, because only Mocha can stop its servers. */
async function outputOf(child: ChildProcess): Promise<string> {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data: Buffer) => (output += data.toString()));
  // A terminal sends SIGINT to both.
  const wait = (): void => undefined;
  const pass = (): void => void child.kill("SIGTERM");
  process.on("SIGINT", wait).on("SIGTERM", pass);
  try {
    await new Promise<void>((resolve, reject) => child.on("error", reject).on("close", () => resolve()));
  } finally {
    process.off("SIGINT", wait).off("SIGTERM", pass);
  }
  return output;
}
