import { randomUUID } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { LossyProxy } from "../faults/lossyProxy";
import type { StorePart } from "../plan/types";
import {
  PostgresServer,
  launchPostgres,
  postgresInstallation,
  removePostgres,
  startPostgres,
  stopPostgres,
} from "../rig";
import type { Secrets } from "../secrets";

/** A database that a part's store uses, and what can happen to it. */
export interface PartDatabase {
  /** With a password in it where it takes one. */
  address: string;
  anew(signal: "SIGKILL" | "SIGINT"): Promise<void>;
  pause(forMs: number): Promise<void>;
  loseAnswer(): Promise<void>;
  close(): Promise<void>;
}

let shared: Promise<PostgresServer> | undefined;

/** Ends the server that rounds share. */
export async function stopSharedDatabase(): Promise<void> {
  if (shared !== undefined) await removePostgres(await shared);
  shared = undefined;
}

/** Opens a part's database: a file of its own, or the shared server by a way that can be cut. */
export async function openDatabase(part: StorePart, folder: string, secrets: Secrets): Promise<PartDatabase> {
  const nothing = (): Promise<void> => Promise.resolve();
  if (part.database !== "postgres") {
    const address = part.database === "network" ? "" : `sqlite:${join(folder, `${part.name}.db`)}`;
    return { address, anew: nothing, pause: nothing, loseAnswer: nothing, close: nothing };
  }
  shared ??= postgresInstallation(() => undefined).then(startPostgres);
  const server = await shared;
  const password = secrets.add("the database's password", `database-secret-${randomUUID()}`);
  const proxy = await LossyProxy.to(server.port);
  return {
    address: `postgres://postgres:${password}@127.0.0.1:${proxy.port}/postgres`,
    async anew(signal) {
      await stopPostgres(server, signal);
      Object.assign(server, await launchPostgres(server));
    },
    async pause(forMs) {
      const processes = [server.processId, ...childrenOf(server.processId)];
      signalAll(processes, "SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, forMs));
      signalAll(processes, "SIGCONT");
    },
    loseAnswer: () => proxy.loseAnswer(),
    close: () => proxy.close(),
  };
}

function signalAll(processes: number[], signal: NodeJS.Signals): void {
  for (const one of processes) {
    try {
      process.kill(one, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        // The name in brackets may have spaces; the parent is the second field after it.
        return Number(readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]) === parent;
      } catch {
        return false;
      }
    })
    .map(Number);
}
