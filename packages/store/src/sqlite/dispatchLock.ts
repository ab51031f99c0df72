import type { Database } from "better-sqlite3";
import { isBusy, openDatabase } from "./open";

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 10;

/**
 * One who dispatches at a time, of all processes with the same file; the messages themselves stay open to those who store.
 * Whoever waits next holds the turn, so that one who lets go and comes again at once does not pass the others by.
 */
export class DispatchLock {
  private readonly turn: FileLock;
  private readonly lock: FileLock;
  private last: Promise<unknown> = Promise.resolve();

  /** @param path file of the messages */
  constructor(path: string) {
    this.turn = new FileLock(`${path}-turn`);
    this.lock = new FileLock(`${path}-lock`);
  }

  /** Does something alone; in this process, first come, first served. */
  hold<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(() => this.holdAlone(work));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  close(): void {
    this.turn.close();
    this.lock.close();
  }

  private async holdAlone<T>(work: () => Promise<T>): Promise<T> {
    await this.turn.take();
    try {
      await this.lock.take();
    } finally {
      this.turn.release();
    }
    try {
      return await work();
    } finally {
      this.lock.release();
    }
  }
}

/** A lock between processes: an exclusive transaction on a file, which the operating system ends with the process. */
class FileLock {
  private readonly database: Database;

  constructor(path: string) {
    // No settings: even to ask for them needs the lock. The file stays empty.
    this.database = openDatabase(path, { timeout: 0 });
  }

  async take(): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; !this.tryTake(); pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      // At random, so that none of several always comes too late.
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
    }
  }

  release(): void {
    if (this.database.open) this.database.exec("ROLLBACK");
  }

  close(): void {
    this.database.close();
  }

  private tryTake(): boolean {
    try {
      this.database.exec("BEGIN EXCLUSIVE");
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }
}
