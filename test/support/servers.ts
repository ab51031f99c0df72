import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { MissingProgramError } from "./missingPrograms";

// Tests run in several processes, which may end without warning. Each server that they start is recorded here, and the first process stops
// it at the end. Mocha knows only the processes that run files.
const FOLDER = "RABBITMQ_DELAY_TEST_SERVERS";
const PREFIX = "rabbitmq-delay-servers-";

/** The servers of one kind that tests have started, by name, as plain data that says how to stop each. */
export class ServerRegister<Server> {
  constructor(
    private readonly kind: string,
    private readonly stop: (server: Server) => Promise<unknown>,
  ) {}

  /** Records a server, or its changed state. */
  put(name: string, server: Server): void {
    const file = this.file(name);
    writeFileSync(`${file}.part`, JSON.stringify(server));
    renameSync(`${file}.part`, file);
  }

  /** Forgets a server that the test has stopped itself. */
  remove(name: string): void {
    rmSync(this.file(name), { force: true });
  }

  /**
   * A server that all processes share: the first one to ask starts it, and the others wait for it.
   * @throws MissingProgramError if this machine can't have its program
   * @throws Error if the first one could not start it, or has ended
   */
  async shared(name: string, start: () => Promise<Server>): Promise<Server> {
    const file = this.file(name);
    const [failure, lock] = [`${file}.failure`, `${file}.lock`];
    if (isFirst(lock)) {
      try {
        this.put(name, await start());
      } catch (error) {
        const isMissing = error instanceof MissingProgramError;
        writeFileSync(`${failure}.part`, JSON.stringify({ isMissing, reason: (error as Error).message }));
        renameSync(`${failure}.part`, failure);
        throw error;
      }
    }
    for (;;) {
      const isStarting = isRunning(Number(read(lock)));
      const found = read(file);
      if (found !== undefined) return JSON.parse(found) as Server;
      const failed = read(failure);
      if (failed !== undefined) {
        const { isMissing, reason } = JSON.parse(failed) as { isMissing: boolean; reason: string };
        throw isMissing ? new MissingProgramError(reason) : new Error(reason);
      }
      if (!isStarting) throw new Error(`the process that was to start ${name} has ended`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Stops the recorded servers; all tests that share them must be done. */
  async stopAll(): Promise<void> {
    const folder = this.folder();
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    await Promise.all(names.map((name) => this.stop(JSON.parse(readFileSync(join(folder, name), "utf8")) as Server)));
    rmSync(folder, { recursive: true });
  }

  private file(name: string): string {
    return join(this.folder(), `${name.replace(/\W+/g, "-")}.json`);
  }

  private folder(): string {
    return runFolder(this.kind);
  }
}

/** Names of the files that say how to stop servers which still run. */
export function recordedServers(): string[] {
  const folder = process.env[FOLDER];
  const names = folder === undefined ? [] : readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".json"));
}

/** A folder that all processes of a run share, and that is removed with it. */
export function runFolder(name: string): string {
  const folder = join((process.env[FOLDER] ??= mkdtempSync(join(tmpdir(), PREFIX))), name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Called in the first process, before the others are started. */
export function openRegisters(): void {
  process.env[FOLDER] = mkdtempSync(join(tmpdir(), PREFIX));
}

/** Stops the servers of a run that ended before it did so itself. @param temporary the run's temporary folder */
export async function stopServersOf(temporary: string, stop: () => Promise<void>): Promise<void> {
  const own = process.env[FOLDER];
  for (const name of readdirSync(temporary).filter((entry) => entry.startsWith(PREFIX))) {
    process.env[FOLDER] = join(temporary, name);
    await stop();
  }
  if (own === undefined) delete process.env[FOLDER];
  else process.env[FOLDER] = own;
}

/** Called in the first process, when everything is stopped. */
export function closeRegisters(): void {
  const folder = process.env[FOLDER];
  if (folder !== undefined) removeFolder(folder);
}

/** Removes a folder into which processes that are about to end may still write: they no longer find it. */
export function removeFolder(folder: string): void {
  if (!existsSync(folder)) return;
  const former = join(dirname(folder), `removed-${basename(folder)}`);
  renameSync(folder, former);
  rmSync(former, { recursive: true, force: true, maxRetries: 10 });
}

function isFirst(lock: string): boolean {
  try {
    writeFileSync(lock, `${process.pid}`, { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

/** Whether a process runs. @param pid 0 if it is not known yet */
function isRunning(pid: number): boolean {
  try {
    return pid === 0 || process.kill(pid, 0);
  } catch {
    return false;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
