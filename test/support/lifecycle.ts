import { join } from "node:path";
import type { Context } from "mocha";
import { stopAllBrokers } from "./brokers";
import { cleanUp } from "./cleanup";
import { stopSharedControlPlane } from "./controlPlanes";
import { stopAllDatabases } from "./databases";
import { hearRejections, noteRunningTest } from "./rejections";
import { explainTimeout } from "./timeouts";
import { closeRegisters, openRegisters, runFolder } from "./servers";

export const mochaHooks = {
  /** Once for each file: a process that runs several files forgets its listeners after each, and would miss unhandled rejections. */
  beforeAll: hearRejections,
  beforeEach(this: Context): void {
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
}

/** Mocha calls this after the last test, also of a failed run. */
export async function mochaGlobalTeardown(): Promise<void> {
  await Promise.all([stopAllBrokers(), stopAllDatabases(), stopSharedControlPlane()]);
  closeRegisters();
}

/** Makes every Node process of the run keep its compiled code, and use that of others. */
function keepCompiled(): void {
  process.env.RABBITMQ_DELAY_TEST_COMPILED = runFolder("compiled");
  const hook = `--require ${JSON.stringify(join(__dirname, "compileCache.js"))}`;
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} ${hook}`.trim();
}
