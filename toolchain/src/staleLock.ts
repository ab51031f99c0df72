import { existsSync, readFileSync, readdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

/**
 * Whether a killed update left its lock in a file backend: its process was on this machine and no longer exists.
 * @param backendUrl `file://…`; other backends remove such locks themselves
 */
export function hasStaleLock(backendUrl: string): boolean {
  if (!backendUrl.startsWith("file://")) return false;
  const folder = join(backendUrl.slice("file://".length), ".pulumi", "locks");
  if (!existsSync(folder)) return false;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.some((entry) => isStale(readFileSync(join(entry.parentPath, entry.name), "utf8")));
}

function isStale(text: string): boolean {
  const lock = JSON.parse(text) as { pid?: number; hostname?: string };
  if (lock.pid === undefined || lock.hostname !== hostname()) return false;
  try {
    process.kill(lock.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
