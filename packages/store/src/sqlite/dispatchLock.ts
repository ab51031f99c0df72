import type { Database } from "better-sqlite3";
import { openDatabase } from "./open";

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/**
 * One who dispatches at a time, of all processes with the same file: an exclusive transaction on a file beside it, which the
 * operating system ends with the process. The messages themselves stay open to those who store.
 */
export class DispatchLock {
  private readonly database: Database;
  private last: Promise<unknown> = Promise.resolve();

  /** @param path file of the messages */
  constructor(path: string) {
    this.database = openDatabase(`${path}-lock`, { timeout: 0 });
    this.database.pragma("journal_mode = DELETE");
    this.database.pragma("synchronous = OFF");
  }

  /** Does something alone; in this process, first come, first served. */
  hold<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(() => this.holdAlone(work));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  close(): void {
    this.database.close();
  }

  private async holdAlone<T>(work: () => Promise<T>): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; !this.take(); pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      // At random, so that none of several always comes too late.
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
    }
    try {
      return await work();
    } finally {
      if (this.database.open) this.database.exec("ROLLBACK");
    }
  }

  private take(): boolean {
    try {
      this.database.exec("BEGIN EXCLUSIVE");
      return true;
    } catch (error) {
      if (String((error as { code?: string }).code).startsWith("SQLITE_BUSY")) return false;
      throw error;
    }
  }
}
