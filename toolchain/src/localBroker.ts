import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrokerInstallation } from "./brokerCommand";
import { localInstallation, newestInstallation } from "./brokerInstallations";
import { BrokerNode, isAlive, startNode, stopNode } from "./brokerNode";
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

type Note = { kind: "node"; node: BrokerNode } | { kind: "docker"; amqpUrl: string; managementUrl: string };

/**
 * Finds this checkout's broker or starts one: RABBITMQ_URL, Docker, an installed RabbitMQ, an installation first; with
 * RABBITMQ_DELAY_BROKER=newest the newest release of Debian, which needs root.
 */
export async function findBroker(progress: (line: string) => void): Promise<LocalBroker> {
  const { RABBITMQ_URL, RABBITMQ_MANAGEMENT_URL } = process.env;
  const note = readNote();
  const isOwnNote = note !== undefined && (RABBITMQ_URL === undefined || RABBITMQ_URL === addressOf(note).amqpUrl);
  if (RABBITMQ_URL !== undefined && !isOwnNote) {
    const managementUrl = RABBITMQ_MANAGEMENT_URL ?? `http://${new URL(RABBITMQ_URL).hostname}:15672`;
    return { amqpUrl: RABBITMQ_URL, managementUrl, isForeign: true, origin: "RABBITMQ_URL" };
  }
  const isNewest = process.env.RABBITMQ_DELAY_BROKER === "newest";
  if (note?.kind === "docker" || (note === undefined && !isNewest && (await dockerAnswers())))
    return startContainer(progress);
  if (note?.kind === "node" && isAlive(note.node)) return broker(note, "running");
  const installation =
    note?.kind === "node"
      ? note.node.installation
      : await (isNewest ? newestInstallation : localInstallation)(progress);
  progress("starting a private node");
  const before = note?.kind === "node" ? { ...note.node, ports: undefined } : {};
  const node = await startNode({
    ...before,
    name: "rabbitmq-delay-dev",
    installation,
    folder: folderOf(installation),
    preferDefaultPorts: true,
  });
  return broker(writeNote({ kind: "node", node }), "started");
}

/** Stops what {@link findBroker} started; its data stays. @returns whether something was stopped */
export async function stopBroker(): Promise<boolean> {
  const note = readNote();
  if (note?.kind === "docker") await run("docker", ["stop", CONTAINER]);
  if (note?.kind === "node") await stopNode(note.node);
  return note !== undefined;
}

/** Forgets the broker and its data, after it was stopped. */
export async function removeBroker(): Promise<void> {
  const note = readNote();
  if (note?.kind === "docker") await run("docker", ["rm", "-f", CONTAINER]);
  if (note?.kind === "node") rmSync(note.node.installation.root + note.node.folder, { recursive: true, force: true });
  rmSync(join(localFolder, "broker"), { recursive: true, force: true });
  rmSync(noteFile, { force: true });
}

/** A node of another root keeps its data there; the checkout's path tells it from another checkout's. */
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
  writeFileSync(noteFile, JSON.stringify(note, undefined, 2));
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
