import { realpathSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { isBusy, openDatabase } from "./open";

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 10;
/**
 * How long another process may hold the lock, while nobody gets it, until that counts as a failure. A batch that waits for its confirms
 * holds it that long.
 */
const PATIENCE_MS = 35_000;

/** Another process holds the lock and does not release it, because it was stopped or hangs; everything goes on when that process does. */
export class LockHeldError extends Error {
  override readonly name = "LockHeldError";
}

/**
 * Lets one process dispatch at a time, of all with the same file; others can still store messages. The next waiting process holds the turn,
 * so that one that releases the lock and comes again at once does not overtake the others.
 */
export class DispatchLock {
  private readonly turn: FileLock;
  private readonly lock: FileLock;
  private last: Promise<unknown> = Promise.resolve();

  private readonly ending = new AbortController();

  /** @param given file of the messages, which exists; all of its names mean one lock */
  constructor(given: string, patienceMs = PATIENCE_MS) {
    const path = realpathSync(given);
    this.turn = new FileLock(`${path}-turn`, patienceMs);
    this.lock = new FileLock(`${path}-lock`, patienceMs);
  }

  /** Makes waiting callers give up; nobody gets the lock any more. */
  end(): void {
    this.ending.abort();
  }

  /**
   * Runs work while holding the lock; in this process, first come, first served.
   * @throws LockHeldError when another process holds it for too long; Error after the end
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
    // No settings, because even reading them needs the lock. The file stays empty.
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
      // A random pause, so that none of several processes always comes too late.
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
