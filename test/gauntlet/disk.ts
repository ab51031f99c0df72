import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";

const BYTES = 2 ** 31;
/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: from now on nothing is written, not even the journal. */
const SHUT_DOWN =
  "import fcntl,os,struct,sys\nfcntl.ioctl(os.open(sys.argv[1],os.O_RDONLY),0x8004587d,struct.pack('I',2))";

/** A file system of its own for a node's data, whose power can be cut: what was not synced is gone. Needs root and loop devices. */
export class Disk {
  private constructor(
    private readonly image: string,
    readonly folder: string,
  ) {}

  /** @throws Error where it can't be had */
  static make(image: string, folder: string): Disk {
    const file = openSync(image, "w");
    ftruncateSync(file, BYTES);
    closeSync(file);
    const disk = new Disk(image, folder);
    try {
      execFileSync("mkfs.ext4", ["-q", "-F", image], { stdio: "pipe" });
      mkdirSync(folder, { recursive: true });
      disk.mount();
    } catch (error) {
      rmSync(image, { force: true });
      throw error;
    }
    chmodSync(folder, 0o755);
    return disk;
  }

  /** Writes all that is held back: what was done long before a cut is on the disk by then. */
  sync(): void {
    execFileSync("sync", ["-f", this.folder], { stdio: "pipe" });
  }

  /** As if the power went: all processes that use it have to be killed before. */
  cut(): void {
    execFileSync("python3", ["-c", SHUT_DOWN, this.folder], { stdio: "pipe" });
    this.unmount();
    this.mount();
  }

  remove(): void {
    if (isMounted(this.folder)) this.unmount();
    rmSync(this.image, { force: true });
    rmSync(this.folder, { recursive: true, force: true });
  }

  private mount(): void {
    execFileSync("mount", ["-o", "loop", this.image, this.folder], { stdio: "pipe" });
  }

  private unmount(): void {
    execFileSync("umount", [this.folder], { stdio: "pipe" });
  }
}

/** Whether something is mounted there. */
export function isMounted(folder: string): boolean {
  return readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .some((line) => line.split(" ")[1] === folder);
}
