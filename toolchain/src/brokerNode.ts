import { ChildProcess, spawn } from "node:child_process";
import type { BrokerInstallation, BrokerNode } from "./broker";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import pWaitFor from "p-wait-for";
import { fetch } from "undici";
import { commandInside, nodeEnvironment } from "./brokerCommand";
import { recoverQuorumQueues } from "./brokerRecovery";
import { interrupted } from "./interruption";
import { freePort, isFree } from "./ports";
import { startOf } from "./processes";
import { run } from "./run";

/** A busy machine starts a node in minutes, and a node that is killed while it stops has not stopped properly. */
const START_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 120_000;
/** Time for a port mapper to notice the end of its node, and to end. */
const PORT_MAPPER_MS = 5000;
/** How long a node that was left running may take to answer, on a busy machine. */
const ANSWER_TIMEOUT_MS = 30_000;

/** What a node is started from: a new one, or an earlier one on the same ports and data. */
export type NodeStart = Pick<BrokerNode, "name" | "installation" | "folder"> &
  Partial<BrokerNode> & {
    /** Whether it takes the well-known ports if they are free, and other ports if somebody has taken its own. */
    preferDefaultPorts?: boolean;
    /** Called as soon as its process exists, long before it answers. */
    onLaunch?: (node: BrokerNode) => void;
  };

/** Starts a node and waits until its management API answers and its queues work. */
export async function startNode(given: NodeStart): Promise<BrokerNode> {
  const hasData = existsSync(join(given.installation.root + given.folder, "data"));
  const node = await launch(given);
  if (!hasData || !(await recoverQuorumQueues(node))) return node;
  await stopNode(node);
  const again = await launch({ ...node, onLaunch: given.onLaunch });
  await recoverQuorumQueues(again);
  return again;
}

async function launch({ name, installation, folder, ...given }: NodeStart): Promise<BrokerNode> {
  const isFlexible = given.preferDefaultPorts ?? given.ports === undefined;
  const ports = isFlexible
    ? await choosePorts(given.ports, given.preferDefaultPorts)
    : (given.ports as BrokerNode["ports"]);
  const outside = installation.root + folder;
  mkdirSync(outside, { recursive: true });
  await writeConfig(outside, ports);
  const log = openSync(join(outside, "console.log"), "a");
  const child = spawn(...nodeCommand(installation), {
    cwd: outside,
    detached: true,
    stdio: ["ignore", log, log],
    env: { ...process.env, ...nodeEnvironment({ name, folder, ports }) },
  });
  closeSync(log);
  const processId = child.pid;
  if (processId === undefined) {
    const [error] = (await once(child, "error")) as [Error];
    throw new Error(`the broker ${name} can't be started: ${error.message}`);
  }
  const node: BrokerNode = {
    name,
    installation,
    folder,
    ports,
    amqpUrl: `amqp://guest:guest@127.0.0.1:${ports.amqp}`,
    managementUrl: `http://127.0.0.1:${ports.management}`,
    processId,
    processStart: startOf(processId),
  };
  given.onLaunch?.(node);
  try {
    await untilReady(node, child);
  } catch (error) {
    await killNode(node);
    throw error;
  }
  child.unref();
  return node;
}

async function writeConfig(folder: string, ports: BrokerNode["ports"]): Promise<void> {
  writeFileSync(join(folder, "enabled_plugins"), "[rabbitmq_management,rabbitmq_prometheus].\n");
  writeFileSync(
    join(folder, "rabbitmq.conf"),
    [
      `listeners.tcp.1 = 127.0.0.1:${ports.amqp}`,
      "management.tcp.ip = 127.0.0.1",
      `management.tcp.port = ${ports.management}`,
      "prometheus.tcp.ip = 127.0.0.1",
      `prometheus.tcp.port = ${await freePort()}`,
      "",
    ].join("\n"),
  );
}

/** In a folder, the node needs /proc for its memory monitor; a private mount namespace removes the mount with the process. */
function nodeCommand({ root, script }: BrokerInstallation): [string, string[]] {
  if (root === "") return [script, []];
  return [
    "unshare",
    ["--mount", "sh", "-c", 'mount -t proc proc "$1/proc" && exec chroot "$1" "$2"', "sh", root, script],
  ];
}

/** Whether the node's processes are alive. If another process has the number by now, as after a restart of the machine, they are not. */
export function isAlive({ processId, processStart }: Pick<BrokerNode, "processId" | "processStart">): boolean {
  const start = startOf(processId);
  if (processStart !== undefined && start !== undefined && start !== processStart) return false;
  try {
    process.kill(-processId, 0);
    return true;
  } catch {
    return false;
  }
}

/** Stops a node properly, and its port mapper. */
export async function stopNode(node: BrokerNode): Promise<void> {
  await endNode(node, "SIGTERM");
  await stopPortMapper(node);
}

/** Kills a node as a power cut would; its port mapper too. */
export async function killNode(node: BrokerNode): Promise<void> {
  await endNode(node, "SIGKILL");
  await stopPortMapper(node);
}

async function endNode(node: BrokerNode, signal: NodeJS.Signals): Promise<void> {
  const hasEnded = (): boolean => !isAlive(node);
  signalGroup(node, signal);
  const kill = (): void => signalGroup(node, "SIGKILL");
  await pWaitFor(hasEnded, { interval: 50, timeout: { milliseconds: STOP_TIMEOUT_MS, fallback: kill } });
  await pWaitFor(hasEnded, { interval: 50 });
}

function signalGroup(node: BrokerNode, signal: NodeJS.Signals): void {
  if (!isAlive(node)) return;
  try {
    process.kill(-node.processId, signal);
  } catch {
    // It has ended already.
  }
}

async function stopPortMapper({ installation, ports }: BrokerNode): Promise<void> {
  const env = { ...process.env, ERL_EPMD_PORT: String(ports.epmd), ERL_EPMD_ADDRESS: "127.0.0.1" };
  const [command, args] = commandInside(installation, "epmd");
  const isGone = async (): Promise<boolean> => {
    // A killed node may have taken its port mapper with it. A port mapper that has not noticed the node's end refuses its own.
    await run(command, [...args, "-kill"], { env }).catch(() => undefined);
    return isFree(ports.epmd);
  };
  // A port that another process has taken is left to it. The next `make up` chooses another one.
  await pWaitFor(isGone, { interval: 50, timeout: PORT_MAPPER_MS }).catch(() => undefined);
}

/** Waits until the management API answers and the node accepts work. */
async function untilReady(node: BrokerNode, child: ChildProcess): Promise<void> {
  let exited = false;
  child.once("exit", () => (exited = true));
  child.once("error", () => (exited = true));
  const refuse = (what: string): never => {
    const log = readFileSync(join(node.installation.root + node.folder, "console.log"), "utf8");
    const end = log.trim().split("\n").slice(-6).join("\n");
    throw new Error(`the broker ${node.name} ${what}; the end of its log:\n${end}`);
  };
  const isThere = async (): Promise<boolean> => {
    interrupted.throwIfAborted();
    // On 3.10, clients are let in last of all; on 4.3, the management API answers last.
    if ((await accepts(node.ports.amqp)) && (await answers(node.managementUrl))) return true;
    return exited ? refuse("ended while starting") : false;
  };
  const late = (): never => refuse(`did not answer within ${START_TIMEOUT_MS / 1000} s`);
  await pWaitFor(isThere, { interval: 100, timeout: { milliseconds: START_TIMEOUT_MS, fallback: late } });
}

/** Whether a node's management API answers and the node accepts work, now or a moment later. */
export async function isReady({ managementUrl }: Pick<BrokerNode, "managementUrl">): Promise<boolean> {
  let isLate = false;
  const isThere = (): Promise<boolean> => {
    interrupted.throwIfAborted();
    return answers(managementUrl);
  };
  const late = (): void => void (isLate = true);
  await pWaitFor(isThere, { interval: 100, timeout: { milliseconds: ANSWER_TIMEOUT_MS, fallback: late } });
  return !isLate;
}

/** Whether somebody listens on a port of loopback. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}

/** Whether the management API answers both requests; they succeed only late in the start, on 4.3 the overview last. */
async function answers(managementUrl: string): Promise<boolean> {
  const headers = { authorization: `Basic ${Buffer.from("guest:guest").toString("base64")}` };
  try {
    for (const path of ["health/checks/virtual-hosts", "overview"]) {
      const reply = await fetch(`${managementUrl}/api/${path}`, { headers, signal: AbortSignal.timeout(5000) });
      await reply.text();
      if (!reply.ok) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** Keeps the ports that a node had unless somebody has taken one, so that addresses that people wrote down stay right. */
async function choosePorts(before?: BrokerNode["ports"], preferDefault = false): Promise<BrokerNode["ports"]> {
  const choose = async (had: number | undefined, wellKnown?: number): Promise<number> => {
    if (had !== undefined && (await isFree(had))) return had;
    return preferDefault && wellKnown !== undefined && (await isFree(wellKnown)) ? wellKnown : freePort();
  };
  return {
    amqp: await choose(before?.amqp, 5672),
    management: await choose(before?.management, 15672),
    distribution: await choose(before?.distribution),
    epmd: await choose(before?.epmd),
  };
}
