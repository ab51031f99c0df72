import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localInstallation } from "../brokerInstallations";
import { startNode, stopNode } from "../brokerNode";
import type { Release } from "./artifact";

/** Runs work with a private broker, which goes afterwards with all that was declared on it. */
export async function withBroker<T>(
  progress: (line: string) => void,
  work: (broker: Release["broker"]) => Promise<T>,
): Promise<T> {
  const installation = await localInstallation(progress);
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-release-broker-"));
  try {
    progress("starting a private broker");
    const node = await startNode({ name: "rabbitmq-delay-release", installation, folder });
    try {
      return await work(node);
    } finally {
      await stopNode(node);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
