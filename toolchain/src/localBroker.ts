import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrokerInstallation } from "./broker";
import { localInstallation, newestInstallation } from "./brokerInstallations";
import { isAlive, isReady, startNode, stopNode } from "./brokerNode";
import { BrokerNode } from "./broker";
import { localFolder } from "./paths";
import { hasCommand, run } from "./run";

/** Where the broker of this checkout is. */
export interface LocalBroker {
  amqpUrl: string;
  managementUrl: string;
  /** Whether somebody else runs it. */
  isForeign: boolean;
  origin: string;
}

const noteFile = join(localFolder, "broker.json");
const CONTAINER = "rabbitmq-delay-dev";

type NodeNote = { kind: "node"; node: BrokerNode };
type Note = NodeNote | { kind: "docker"; amqpUrl: string; managementUrl: string };

/**
 * Finds this checkout's broker or starts one: RABBITMQ_URL, Docker, an installed RabbitMQ, after installing it if needed; with
 * RABBITMQ_DELAY_BROKER=newest the newest release of Debian, which needs root.
 */
export async function findBroker(progress: (line: string) => void): Promise<LocalBroker> {
  const { RABBITMQ_URL, RABBITMQ_MANAGEMENT_URL } = process.env;
  const note = readNote();
  const isOwn = [process.env[OWN_BROKER_VARIABLE], note && addressOf(note).amqpUrl].includes(RABBITMQ_URL);
  if (RABBITMQ_URL !== undefined && !isOwn) {
    const managementUrl = RABBITMQ_MANAGEMENT_URL ?? `http://${new URL(RABBITMQ_URL).hostname}:15672`;
    return { amqpUrl: RABBITMQ_URL, managementUrl, isForeign: true, origin: "RABBITMQ_URL" };
  }
  const isNewest = process.env.RABBITMQ_DELAY_BROKER === "newest";
  if (note?.kind === "docker" || (note === undefined && !isNewest && (await dockerAnswers())))
    return startContainer(progress);
  if (note?.kind === "node") return startNoted(note, progress);
  const installation = await (isNewest ? newestInstallation : localInstallation)(progress);
  return startPrivate({ installation, folder: folderOf(installation) }, progress);
}

/** Takes over the node that an earlier run started, or starts it again on its ports and data. */
async function startNoted(note: NodeNote, progress: (line: string) => void): Promise<LocalBroker> {
  if (isAlive(note.node)) {
    if (await isReady(note.node)) return broker(note, "running");
    progress("the node of an earlier run does not answer; stopping it");
    await stopNode(note.node);
  }
  return startPrivate(note.node, progress);
}

async function startPrivate(
  before: Pick<BrokerNode, "installation" | "folder"> & Partial<Pick<BrokerNode, "ports">>,
  progress: (line: string) => void,
): Promise<LocalBroker> {
  progress("starting a private node");
  const node = await startNode({
    ...before,
    name: "rabbitmq-delay-dev",
    preferDefaultPorts: true,
    // Recorded before it answers: killing this run must not leave a node that nobody knows of.
    onLaunch: (launched) => writeNote({ kind: "node", node: launched }),
  });
  const isMoved = before.ports !== undefined && before.ports.amqp !== node.ports.amqp;
  return broker(writeNote({ kind: "node", node }), isMoved ? "started on other ports, its own were taken" : "started");
}

/** Stops the broker that {@link findBroker} started; its data stays. @returns whether one was stopped */
export async function stopBroker(): Promise<boolean> {
  const note = readNote();
  if (note?.kind === "docker") await run("docker", ["stop", CONTAINER]);
  if (note?.kind !== "node") return note !== undefined;
  const wasAlive = isAlive(note.node);
  await stopNode(note.node);
  return wasAlive;
}

/** Deletes the broker and its data, after it was stopped. */
export async function removeBroker(): Promise<void> {
  const note = readNote();
  if (note?.kind === "docker") await run("docker", ["rm", "-f", CONTAINER]);
  if (note?.kind === "node") rmSync(note.node.installation.root + note.node.folder, { recursive: true, force: true });
  rmSync(join(localFolder, "broker"), { recursive: true, force: true });
  rmSync(noteFile, { force: true });
}

/** A node of another root keeps its data there; the checkout's path distinguishes it from other checkouts. */
function folderOf({ root: other }: BrokerInstallation): string {
  if (other === "") return join(localFolder, "broker");
  return `/srv/rabbitmq-delay-dev-${createHash("sha256").update(localFolder).digest("hex").slice(0, 8)}`;
}

function broker(note: Note, how: string): LocalBroker {
  const { amqpUrl, managementUrl } = addressOf(note);
  const origin = note.kind === "docker" ? `container ${CONTAINER}` : `private node, ${how}`;
  return { amqpUrl, managementUrl, isForeign: false, origin };
}

function addressOf(note: Note): { amqpUrl: string; managementUrl: string } {
  return note.kind === "node" ? note.node : note;
}

function readNote(): Note | undefined {
  return existsSync(noteFile) ? (JSON.parse(readFileSync(noteFile, "utf8")) as Note) : undefined;
}

function writeNote(note: Note): Note {
  mkdirSync(localFolder, { recursive: true });
  // Written as a whole or not at all, however this run ends.
  writeFileSync(`${noteFile}.new`, JSON.stringify(note, undefined, 2));
  renameSync(`${noteFile}.new`, noteFile);
  return note;
}

async function dockerAnswers(): Promise<boolean> {
  if (!(await hasCommand("docker"))) return false;
  return run("docker", ["info"]).then(
    () => true,
    () => false,
  );
}

async function startContainer(progress: (line: string) => void): Promise<LocalBroker> {
  const exists = (await run("docker", ["ps", "-aq", "--filter", `name=^${CONTAINER}$`])).trim() !== "";
  progress("docker: rabbitmq:4.3-management");
  const ports = ["-p", "127.0.0.1:5672:5672", "-p", "127.0.0.1:15672:15672"];
  const options = ["--name", CONTAINER, "--hostname", CONTAINER, ...ports];
  await run("docker", exists ? ["start", CONTAINER] : ["run", "-d", ...options, "rabbitmq:4.3-management"], {
    onLine: progress,
  });
  await run("docker", ["exec", CONTAINER, "rabbitmqctl", "await_startup"], { onLine: progress });
  const address = { amqpUrl: "amqp://guest:guest@127.0.0.1:5672", managementUrl: "http://127.0.0.1:15672" };
  return broker(writeNote({ kind: "docker", ...address }), "running");
}

/**
 * Distinguishes a RABBITMQ_URL from the environment file, which names a broker that this checkout started, from one that a user set: a
 * shell keeps the variable when that broker is gone.
 */
export const OWN_BROKER_VARIABLE = "RABBITMQ_DELAY_OWN_BROKER";
