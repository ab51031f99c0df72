import { stopAllBrokers } from "./brokers";
import { cleanUp } from "./cleanup";
import { stopSharedControlPlane } from "./controlPlanes";
import { stopAllDatabases } from "./databases";
import { closeRegisters, openRegisters } from "./servers";

export const mochaHooks = {
  afterEach: cleanUp,
};

/** Mocha calls this before it starts the processes that run the files. */
export function mochaGlobalSetup(): void {
  openRegisters();
}

/** Mocha calls this after the last test, also of a failed run. */
export async function mochaGlobalTeardown(): Promise<void> {
  await Promise.all([stopAllBrokers(), stopAllDatabases(), stopSharedControlPlane()]);
  closeRegisters();
}
