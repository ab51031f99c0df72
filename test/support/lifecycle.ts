import { stopAllBrokers } from "./brokers";
import { cleanUp } from "./cleanup";

export const mochaHooks = {
  afterEach: cleanUp,
};

/** Mocha calls this after the last test, also of a failed run. */
export async function mochaGlobalTeardown(): Promise<void> {
  await stopAllBrokers();
}
