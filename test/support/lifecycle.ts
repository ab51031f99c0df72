import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import type { Context } from "mocha";
import "./brokerClock";
import { cleanUp } from "./cleanup";
import { watchClock } from "./clock";
import { hearRejections, noteRunningTest } from "./rejections";
import { explainTimeout } from "./timeouts";
import { closeRegisters, openRegisters, recordedServers, runFolder } from "./servers";

// Loaded by Mocha in each of its processes, before any test file.
hearRejections();

/** Whether runMocha has started this process, and stops its servers; see mochaRun.ts. */
const isOfTier = process.env.RABBITMQ_DELAY_TEST_RESULT !== undefined;

export const mochaHooks = {
  beforeEach(this: Context): void {
    watchClock();
    noteRunningTest(this.currentTest?.fullTitle() ?? "");
  },
  async afterEach(this: Context): Promise<void> {
    await explainTimeout(this.currentTest);
    await cleanUp();
  },
};

/** Mocha calls this before it starts the processes that run the files. */
export function mochaGlobalSetup(): void {
  openRegisters();
  keepCompiled();
  if (!isOfTier) stopServersOnSignals();
}

/** Mocha calls this after the last test, also of a failed run. */
export async function mochaGlobalTeardown(): Promise<void> {
  // Each process of a run loads this file, and few have servers to stop.
  if (recordedServers().length === 0) return closeRegisters();
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- only where there is something to stop
  const { stopAllServers } = require("./allServers") as typeof import("./allServers");
  await stopAllServers();
}

/** Mocha tears down nothing when it is told to end. Another process does so once this one is gone, whose tests might start a server meanwhile. */
function stopServersOnSignals(): void {
  const args = ["--require", "ts-node/register/transpile-only", join(__dirname, "stopServers.ts")];
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => {
      spawn(process.execPath, args, { detached: true, stdio: "ignore" }).unref();
      process.exit(128 + constants.signals[signal]);
    });
}

/** Makes every Node process of the run keep its compiled code, and use that of others. */
function keepCompiled(): void {
  process.env.RABBITMQ_DELAY_TEST_COMPILED = runFolder("compiled");
  const hook = `--require ${JSON.stringify(join(__dirname, "compileCache.js"))}`;
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} ${hook}`.trim();
}
