import { strict as assert } from "node:assert";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DispatchLock } from "../dist/sqlite/dispatchLock";
import { temporaryFolder } from "../../../test/support/temporaryFolder";

describe("the dispatch lock of a SQLite file", () => {
  let folder: string;
  let locks: DispatchLock[];
  const lockOf = (name: string, patienceMs?: number): DispatchLock => {
    const lock = new DispatchLock(join(folder, name), patienceMs);
    locks.push(lock);
    return lock;
  };
  beforeEach(() => {
    folder = temporaryFolder();
    writeFileSync(join(folder, "delayed.db"), "");
    locks = [];
  });
  afterEach(() => {
    for (const lock of locks) lock.close();
  });

  /** Somebody who has the lock and does not let go. */
  const occupy = async (name: string): Promise<void> => {
    await new Promise<void>((resolve) => {
      void lockOf(name).hold(() => {
        resolve();
        return new Promise(() => undefined);
      });
    });
  };

  // Two processes that named the file in different ways delivered each message twice.
  it("is one for all names of the file", async () => {
    symlinkSync(join(folder, "delayed.db"), join(folder, "link.db"));
    await occupy("delayed.db");
    await assert.rejects(
      lockOf("link.db", 50).hold(() => Promise.resolve()),
      /another process has had the lock/,
    );
  });

  // A stand-by behind a process that hung was green for as long, and nobody was told that nothing is delivered.
  it("is not waited for without end, by those who wait for their turn neither", async () => {
    await occupy("delayed.db");
    const waiting = [lockOf("delayed.db", 50), lockOf("delayed.db", 50)].map((lock) =>
      lock.hold(() => Promise.resolve()),
    );
    for (const { status, reason } of (await Promise.allSettled(waiting)) as PromiseRejectedResult[]) {
      assert.deepEqual([status, (reason as Error).name], ["rejected", "LockHeldError"]);
    }
  });

  // A process that waited could only be ended by SIGKILL.
  it("is given up at the end, but not by one who has it", async () => {
    await occupy("delayed.db");
    const waiting = lockOf("delayed.db");
    const ended = assert.rejects(
      waiting.hold(() => Promise.resolve()),
      /ending/,
    );
    waiting.end();
    await ended;
  });
});
