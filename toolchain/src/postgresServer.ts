import { spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pWaitFor from "p-wait-for";
import { installPackages, isRootOnDebian } from "./debianPackages";
import { freePort } from "./ports";
import { run } from "./run";

const DEBIAN_SERVERS = "/usr/lib/postgresql";
const ANSWER_TIMEOUT_MS = 60_000;

/** A private PostgreSQL server on loopback. */
export interface PostgresServer {
  bin: string;
  folder: string;
  port: number;
  /** Of the database `postgres`. */
  url: string;
  processId: number;
}

/** The user that runs the server, which refuses to run as root. */
interface Owner {
  uid?: number;
  gid?: number;
}

/**
 * Finds the folder of this machine's PostgreSQL programs; on Debian as root they are installed first.
 * @throws Error that says what was tried
 */
export async function postgresInstallation(progress: (line: string) => void): Promise<string> {
  const found = await findPrograms();
  if (found !== undefined) return found;
  if (!isRootOnDebian()) {
    throw new Error("no PostgreSQL: pg_config is not on PATH, and only root on Debian could install it here");
  }
  await installPackages(["postgresql"], progress);
  const installed = await findPrograms();
  if (installed === undefined)
    throw new Error(`Debian's postgresql was installed, but ${DEBIAN_SERVERS} has no server`);
  return installed;
}

async function findPrograms(): Promise<string | undefined> {
  const versions = existsSync(DEBIAN_SERVERS) ? readdirSync(DEBIAN_SERVERS) : [];
  const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1);
  const folders = [
    ...(newest === undefined ? [] : [join(DEBIAN_SERVERS, newest, "bin")]),
    ...(await run("pg_config", ["--bindir"]).then(
      (folder) => [folder.trim()],
      () => [],
    )),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")));
}

/** Makes a new cluster in a temporary folder and starts its server. */
export async function startPostgres(bin: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-postgres-"));
  const owner = ownerOf();
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid as number);
  const options = ["-D", join(folder, "data"), "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-locale"];
  await runToEnd(bin, "initdb", options, folder, owner);
  const port = await freePort();
  return launch({ bin, folder, port, url: `postgres://postgres@127.0.0.1:${port}/postgres`, processId: 0 });
}

/** Starts a server on its data and its port, and waits until it accepts work. */
export async function launch(server: PostgresServer): Promise<PostgresServer> {
  const deadline = Date.now() + ANSWER_TIMEOUT_MS;
  const { bin, folder, port } = server;
  const settings = { listen_addresses: "127.0.0.1", unix_socket_directories: folder, max_connections: "200" };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const args = ["-D", join(folder, "data"), "-p", String(port), ...flags];
  for (;;) {
    const child = spawn(join(bin, "postgres"), args, { cwd: folder, stdio: "ignore", ...ownerOf() });
    let isOver = false;
    child.once("exit", () => (isOver = true));
    child.unref();
    while (!isOver) {
      if (await answers(bin, port)) return { ...server, processId: child.pid as number };
      if (Date.now() > deadline) throw new Error(`PostgreSQL in ${folder} does not answer`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // After a kill, the last of the old server's processes may take a moment to end.
    if (Date.now() > deadline) throw new Error(`PostgreSQL in ${folder} does not start`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Stops a server at once, properly (SIGINT) or like a power cut (SIGKILL). */
export async function stopPostgres(
  { processId }: PostgresServer,
  signal: "SIGINT" | "SIGKILL" = "SIGINT",
): Promise<void> {
  const isAlive = (): boolean => {
    try {
      return process.kill(processId, 0);
    } catch {
      return false;
    }
  };
  if (isAlive()) process.kill(processId, signal);
  await pWaitFor(() => !isAlive(), { interval: 20 });
}

/** Stops a server and removes its data. */
export async function removePostgres(server: PostgresServer): Promise<void> {
  await stopPostgres(server);
  await removeSharedMemory(server);
  rmSync(server.folder, { recursive: true, force: true });
}

/** Removes the memory segment that a killed server has left; one that ends by itself removes it, and its file. */
async function removeSharedMemory({ folder }: PostgresServer): Promise<void> {
  const file = join(folder, "data", "postmaster.pid");
  // The key and the number of the segment are in the seventh line.
  const [, segment] = existsSync(file) ? (readFileSync(file, "utf8").split("\n")[6]?.trim().split(/\s+/) ?? []) : [];
  if (segment !== undefined) await run("ipcrm", ["-m", segment]).catch(() => undefined);
}

function answers(bin: string, port: number): Promise<boolean> {
  return run(join(bin, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(port)]).then(
    () => true,
    () => false,
  );
}

/** Debian's package creates the user postgres. */
function ownerOf(): Owner {
  if (process.getuid?.() !== 0) return {};
  const [, , uid, gid] = readFileSync("/etc/passwd", "utf8").match(/^(postgres):x:(\d+):(\d+):/m) ?? [];
  if (uid === undefined) throw new Error("PostgreSQL can't run as root, and there is no user postgres");
  return { uid: Number(uid), gid: Number(gid) };
}

function runToEnd(bin: string, program: string, args: string[], cwd: string, owner: Owner): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(bin, program), args, { cwd, stdio: "ignore", ...owner });
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`))));
  });
}
