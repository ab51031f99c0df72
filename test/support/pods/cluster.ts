import { readFileSync } from "node:fs";
import type { RabbitMqClusterArgs } from "pulumi-rabbitmq-delay";
import { Agent, fetch } from "undici";
import { newestInstallation } from "../../../toolchain/dist/brokerInstallations";
import { findNetworkTools } from "../../../toolchain/dist/networkTools";
import { CapturedManifest, captureManifests } from "../capture";
import { createCertificates } from "../certificates";
import { skipUnless } from "../missingPrograms";
import { PodSet } from "./podSet";

/** Runs tests of pods; if pods can't run here, the tests are skipped with the reason, and fail in CI. */
export function withPods(define: () => void): void {
  describe("in pods", function () {
    before(function () {
      skipUnless(process.getuid?.() === 0, this, NOT_ROOT);
    });
    define();
  });
}

const NOT_ROOT = "pods need network namespaces, which only root may make";

/** A cluster of three nodes with TLS, run from a component's manifests. */
export interface PodCluster {
  pods: PodSet;
  manifests: CapturedManifest[];
  username: string;
  password: string;
  /** The name in the certificate; connections go to addresses of pods. */
  serverName: string;
  caCertFile: string;
}

const START_LIMIT_MS = 400_000;
const PASSWORD = "a-password-of-the-tests";

/**
 * Starts a cluster and waits until all its nodes run.
 * @param folder for certificates
 * @param change makes changes to the generated manifests
 * @throws Error if this machine can't run pods
 */
export async function startPodCluster(
  folder: string,
  more: Partial<RabbitMqClusterArgs> = {},
  change: (manifests: CapturedManifest[]) => void = () => undefined,
): Promise<PodCluster> {
  if (process.getuid?.() !== 0) throw new Error(NOT_ROOT);
  await findNetworkTools(() => undefined);
  const { RabbitMqCluster } = await import("pulumi-rabbitmq-delay");
  const args = { namespace: "messaging", storage: { className: "fast" }, tls: { secretName: "certificate" } };
  const manifests = await captureManifests(
    () => new RabbitMqCluster("rabbit", { ...args, password: PASSWORD, ...more }),
  );
  const serverName = "rabbit.messaging.svc";
  const { key, cert, caCertFile } = createCertificates(folder, [`DNS:${serverName}`]);
  manifests.push({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "certificate" },
    stringData: { "tls.crt": cert.toString(), "tls.key": key.toString() },
  });
  change(manifests);
  const pods = await PodSet.create(manifests, await newestInstallation(() => undefined));
  const cluster = { pods, manifests, username: "administrator", password: PASSWORD, serverName, caCertFile };
  try {
    await Promise.all(ordinals(cluster).map((ordinal) => pods.start(ordinal)));
    await untilAllRun(cluster);
    return cluster;
  } catch (error) {
    const logs = ordinals(cluster).map((ordinal) => pods.log(ordinal));
    await pods.remove();
    throw new Error(`${(error as Error).message}\n${logs.join("\n--\n")}`);
  }
}

export function ordinals({ pods }: Pick<PodCluster, "pods">): number[] {
  return Array.from({ length: pods.spec.replicas }, (_, ordinal) => ordinal);
}

/** Waits until each node sees all nodes run, and no queue depends on a single node. */
export async function untilAllRun(cluster: PodCluster): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    const states = await Promise.all(ordinals(cluster).map((ordinal) => runningNodes(cluster, ordinal)));
    const isWhole = states.every((count) => count === cluster.pods.spec.replicas);
    if (isWhole && !(await isAnyCritical(cluster))) return;
    if (Date.now() > deadline)
      throw new Error(`the nodes see ${states.join(", ")} running nodes, or a queue needs one`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Whether a queue would lose its majority without one of the nodes, as `rabbitmq-upgrade await_online_quorum_plus_one` asks. */
async function isAnyCritical(cluster: PodCluster): Promise<boolean> {
  const checks = ordinals(cluster).map((ordinal) =>
    manage(cluster, ordinal, "GET", "health/checks/node-is-quorum-critical"),
  );
  return Promise.all(checks).then(
    () => false,
    () => true,
  );
}

/** How many nodes run, as one of them sees it; 0 if that node does not answer. */
async function runningNodes(cluster: PodCluster, ordinal: number): Promise<number> {
  try {
    const nodes = await manage<{ running: boolean }[]>(cluster, ordinal, "GET", "nodes?columns=name,running");
    return nodes.filter(({ running }) => running).length;
  } catch {
    return 0;
  }
}

const agents = new Map<string, Agent>();

/** Uses the management API of one node, over verified TLS. */
export async function manage<T>(
  cluster: PodCluster,
  ordinal: number,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const text = await ask(cluster, ordinal, method, `15671/api/${path}`, body);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** One node's metrics, as Prometheus reads them. */
export function metricsOf(cluster: PodCluster, ordinal: number, path: string): Promise<string> {
  return ask(cluster, ordinal, "GET", `15691/${path}`);
}

async function ask(
  { pods, caCertFile, serverName, username, password }: PodCluster,
  ordinal: number,
  method: string,
  place: string,
  body?: unknown,
): Promise<string> {
  const agent =
    agents.get(caCertFile) ?? new Agent({ connect: { ca: readFileSync(caCertFile), servername: serverName } });
  agents.set(caCertFile, agent);
  const response = await fetch(`https://${pods.addressOf(ordinal)}:${place}`, {
    method,
    dispatcher: agent,
    headers: {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
      "content-type": "application/json",
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${place}: HTTP ${response.status} ${text.slice(0, 300)}`);
  return text;
}
