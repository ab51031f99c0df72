import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import * as lockfile from "proper-lockfile";
import { interrupted } from "./interruption";
import { cacheFolder } from "./paths";

/** One way to get something; it throws if it does not work here. */
export interface Way {
  /** Its name, for the message when all ways fail. */
  name: string;
  /** Fills the folder, which exists and is empty. */
  fill: (folder: string, progress: (line: string) => void) => Promise<void>;
}

/** If two runs start at the same time, the second one waits, as long as the first one shows that it is alive. */
const LOCK_OPTIONS = {
  stale: 30_000,
  update: 5_000,
  retries: { retries: 3600, factor: 1, minTimeout: 1000, maxTimeout: 1000 },
};

/**
 * A folder in the cache. The first way that works fills it, once, and it is moved into place only when it is complete.
 * @param name path below the cache, with its version in it
 * @param wayOut what a person can do if all ways fail; one sentence
 * @returns the folder
 * @throws Error that lists the ways and why each failed
 */
export async function getCached(
  name: string,
  ways: Way[],
  progress: (line: string) => void,
  wayOut?: string,
): Promise<string> {
  const folder = join(cacheFolder, name);
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  return withLock(folder, progress, async () => {
    if (existsSync(folder)) return folder;
    const failures: string[] = [];
    for (const way of ways) {
      interrupted.throwIfAborted();
      const partial = `${folder}.partial`;
      removeHalfMade(partial);
      mkdirSync(partial, { recursive: true });
      try {
        await way.fill(partial, (line) => progress(`${way.name}: ${line}`));
        renameSync(partial, folder);
        return folder;
      } catch (error) {
        failures.push(`  ${way.name}: ${(error as Error).message}`);
        removeHalfMade(partial);
      }
    }
    interrupted.throwIfAborted();
    const tried = `${name} could not be had. Tried:\n${failures.join("\n")}`;
    throw new Error(wayOut === undefined ? tried : `${tried}\n${wayOut}`);
  });
}

/** Runs work while no other run on this machine does. @param path below which the lock is made; its folder exists */
export async function withLock<T>(path: string, progress: (line: string) => void, work: () => Promise<T>): Promise<T> {
  const release = await lockWithNotice(path, progress);
  try {
    return await work();
  } finally {
    await release();
  }
}

async function lockWithNotice(folder: string, progress: (line: string) => void): Promise<() => Promise<void>> {
  interrupted.throwIfAborted();
  const options = { realpath: false, lockfilePath: `${folder}.lock`, ...LOCK_OPTIONS };
  if (await lockfile.check(folder, options)) progress("another run is at it; waiting");
  // Anything acquired by then ends with this process.
  return Promise.race([lockfile.lock(folder, options), untilInterrupted()]);
}

function untilInterrupted(): Promise<never> {
  return new Promise((_, reject) => {
    interrupted.addEventListener("abort", () => reject(interrupted.reason as Error), { once: true });
  });
}

/** Removes a folder. Mounts that a killed run left in it are unmounted first, or the machine's own devices would be removed, too. */
function removeHalfMade(folder: string): void {
  for (const mount of mountsBelow(folder).reverse()) execFileSync("umount", [mount]);
  rmSync(folder, { recursive: true, force: true });
}

function mountsBelow(folder: string): string[] {
  const list = "/proc/self/mountinfo";
  if (!existsSync(list)) return [];
  const mounts = readFileSync(list, "utf8")
    .split("\n")
    .map((line) => (line.split(" ")[4] ?? "").replaceAll("\\040", " "));
  return mounts.filter((mount) => mount.startsWith(`${folder}/`));
}
