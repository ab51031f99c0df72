import { execFileSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "./cleanup";
import { ServerRegister } from "./servers";

const mounted = new ServerRegister<{ folder: string }>("disks", async ({ folder }) => unmount(folder));

/** A small file system in memory that a test fills and frees. Needs root. */
export class TinyDisk {
  private constructor(readonly folder: string) {}

  /** @param folder an empty one, on which the disk is mounted until the end of the test */
  static mount(folder: string, bytes: number): TinyDisk {
    mounted.put(folder, { folder });
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=777`, "tmpfs", folder]);
    afterThisTest(() => {
      unmount(folder);
      mounted.remove(folder);
    });
    chmodSync(folder, 0o777);
    return new TinyDisk(folder);
  }

  /** Takes all free space except for some bytes. */
  fill(leftBytes: number): void {
    const [, free] = execFileSync("df", ["--output=avail", "-B1", this.folder]).toString().trim().split("\n");
    writeFileSync(this.ballast, Buffer.alloc(Math.max(0, Number(free) - leftBytes), 1));
  }

  free(): void {
    rmSync(this.ballast);
  }

  private get ballast(): string {
    return join(this.folder, "ballast");
  }
}

function unmount(folder: string): void {
  execFileSync("umount", ["--lazy", folder]);
}

/** Unmounts all disks that tests have left. */
export function unmountAll(): Promise<void> {
  return mounted.stopAll();
}
