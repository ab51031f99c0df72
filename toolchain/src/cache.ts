import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import * as lockfile from "proper-lockfile";
import { cacheFolder } from "./paths";

/** One way to get something: throws when it does not work here. */
export interface Way {
  /** What is tried, for the message when all fail. */
  name: string;
  /** Fills the folder, which exists and is empty. */
  fill: (folder: string, progress: (line: string) => void) => Promise<void>;
}

/** Two runs at the same time: the second one waits, as long as the first one shows that it is alive. */
const LOCK_OPTIONS = {
  stale: 30_000,
  update: 5_000,
  retries: { retries: 3600, factor: 1, minTimeout: 1000, maxTimeout: 1000 },
};

/**
 * A folder in the cache, filled once by the first way that works, and moved into place only when it is whole.
 * @param name path below the cache, with its version in it
 * @returns the folder
 * @throws Error that lists the ways and why each failed
 */
export async function cached(name: string, ways: Way[], progress: (line: string) => void): Promise<string> {
  const folder = join(cacheFolder, name);
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const release = await lockWithNotice(folder, progress);
  try {
    if (existsSync(folder)) return folder;
    const failures: string[] = [];
    for (const way of ways) {
      const partial = `${folder}.partial`;
      rmSync(partial, { recursive: true, force: true });
      mkdirSync(partial, { recursive: true });
      try {
        await way.fill(partial, (line) => progress(`${way.name}: ${line}`));
        renameSync(partial, folder);
        return folder;
      } catch (error) {
        failures.push(`  ${way.name}: ${(error as Error).message}`);
        rmSync(partial, { recursive: true, force: true });
      }
    }
    throw new Error(`${name} could not be had. Tried:\n${failures.join("\n")}`);
  } finally {
    await release();
  }
}

async function lockWithNotice(folder: string, progress: (line: string) => void): Promise<() => Promise<void>> {
  const options = { realpath: false, lockfilePath: `${folder}.lock`, ...LOCK_OPTIONS };
  if (await lockfile.check(folder, options)) progress("another run is at it; waiting");
  return lockfile.lock(folder, options);
}
