import { stopAllBrokers } from "./brokers";

/** Mocha calls this after the last test, also of a failed run. */
export async function mochaGlobalTeardown(): Promise<void> {
  await stopAllBrokers();
}
