import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import type { Context } from "mocha";
import { stopAllBrokers } from "./brokers";
import { cleanUp } from "./cleanup";
import { watchClock } from "./clock";
import { stopSharedControlPlane } from "./controlPlanes";
import { stopAllDatabases } from "./databases";
import { hearRejections, noteRunningTest } from "./rejections";
import { explainTimeout } from "./timeouts";
import { closeRegisters, openRegisters, runFolder } from "./servers";

/** Whether runMocha has started this process, and stops its servers; see mochaRun.ts. */
const isOfTier = process.env.RABBITMQ_DELAY_TEST_RESULT !== undefined;

export const mochaHooks = {
  /** Once for each file: a process that runs several files forgets its listeners after each, and would miss unhandled rejections. */
  beforeAll: hearRejections,
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
  await Promise.all([stopAllBrokers(), stopAllDatabases(), stopSharedControlPlane()]);
  closeRegisters();
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
