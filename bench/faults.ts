import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPodCluster } from "../test/support/pods/cluster";
import { DelayTraffic, TrafficResult } from "../test/support/pods/delayTraffic";
import { Fault, killedNodes, minorityCutOff, rollingRestart } from "../test/support/pods/faults";
import { percentile } from "./statistics";

const MESSAGES = Number(process.env.MESSAGES ?? 20_000);
/** From after the last is published until after the fault: what is due while it lasts shows in the lateness. */
const DELAYS = { fromMs: 10_000, toMs: 60_000 };
const SETTLE_LIMIT_MS = 300_000;

/** The cut first: afterwards, leaders of queues are where the faults before have left them. */
const faults: Fault[] = [{ name: "none", inject: async () => undefined }, minorityCutOff, killedNodes, rollingRestart];

/**
 * What faults of a cluster do to messages that wait in it: three nodes from RabbitMqCluster's manifests, each in a network of its
 * own, four endpoints, TLS. The first row is the bound: the same messages, and no fault.
 */
async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-faults-"));
  const cluster = await startPodCluster(folder);
  const traffic = await DelayTraffic.start(cluster);
  try {
    console.log(`| fault | messages | lost | early | at a wrong endpoint | twice | p50 late | p99 late | latest |`);
    console.log(`| --- | --- | --- | --- | --- | --- | --- | --- | --- |`);
    for (const fault of faults) {
      await traffic.publish(MESSAGES, DELAYS);
      await fault.inject(cluster);
      await traffic.settle(SETTLE_LIMIT_MS);
      console.log(row(fault, traffic.take()));
    }
  } finally {
    await traffic.stop();
    await cluster.pods.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

function row({ name }: Fault, result: TrafficResult): string {
  const { messages, lost, early, misdelivered, duplicates, latenessMs } = result;
  const late = [0.5, 0.99, 1].map((share) => `${(percentile(latenessMs, share) / 1000).toFixed(2)} s`);
  return `| ${[name, messages, lost, early, misdelivered, duplicates, ...late].join(" | ")} |`;
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
