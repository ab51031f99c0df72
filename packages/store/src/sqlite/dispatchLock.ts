import { realpathSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { isBusy, openDatabase } from "./open";

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 10;
/** How long somebody else may have the lock, while nobody gets it, until that is a failure. A batch whose confirm is waited for has it that long. */
const PATIENCE_MS = 35_000;

/** Another process has the lock and does not let go of it, as one that was stopped or hangs; it goes on by itself when that one does. */
export class LockHeldError extends Error {
  override readonly name = "LockHeldError";
}

/**
 * One who dispatches at a time, of all processes with the same file; the messages themselves stay open to those who store.
 * Whoever waits next holds the turn, so that one who lets go and comes again at once does not pass the others by.
 */
export class DispatchLock {
  private readonly turn: FileLock;
  private readonly lock: FileLock;
  private last: Promise<unknown> = Promise.resolve();

  private readonly ending = new AbortController();

  /** @param given file of the messages, which is there; all of its names mean one lock */
  constructor(given: string, patienceMs = PATIENCE_MS) {
    const path = realpathSync(given);
    this.turn = new FileLock(`${path}-turn`, patienceMs);
    this.lock = new FileLock(`${path}-lock`, patienceMs);
  }

  /** Whoever waits gives up, and nobody gets the lock any more. */
  end(): void {
    this.ending.abort();
  }

  /**
   * Does something alone; in this process, first come, first served.
   * @throws LockHeldError when another process has it for too long; Error after the end
   */
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
    const { signal } = this.ending;
    await this.turn.take(signal);
    try {
      await this.lock.take(signal);
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

  constructor(
    path: string,
    private readonly patienceMs: number,
  ) {
    // No settings: even to ask for them needs the lock. The file stays empty.
    this.database = openDatabase(path, { timeout: 0 });
  }

  async take(signal: AbortSignal): Promise<void> {
    const sinceMs = performance.now();
    for (let pauseMs = FIRST_PAUSE_MS; !this.tryTake(); pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      if (signal.aborted) throw new Error("the store is ending");
      const waitedMs = performance.now() - sinceMs;
      if (waitedMs > this.patienceMs) {
        const seconds = Math.round(waitedMs / 1000);
        throw new LockHeldError(`another process has had the lock of the SQLite file for ${seconds} s; does it hang?`);
      }
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
