import { execFile } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { filesPrefix } from "./filesPrefix";
import { findFakeTime } from "./rig";

/** What is tried before a clock is relied on. */
const TRIED_MS = 3_600_000;

/** A process's time of day, which can jump while it runs; its steady clock and its timers stay the machine's. */
export class FakeClock {
  private constructor(
    private readonly library: string,
    private readonly file: string,
  ) {
    this.set(0);
  }

  /** A clock that is right as yet; undefined where none can be had. @param file where it is kept */
  static async make(file: string): Promise<FakeClock | undefined> {
    const { library } = await found();
    return library === undefined ? undefined : new FakeClock(library, file);
  }

  /** Why clocks can't jump here; undefined where they can. */
  static async whyNone(): Promise<string | undefined> {
    return (await found()).reason;
  }

  /** What a process that goes by this clock is started with. */
  get environment(): Record<string, string> {
    return environmentOf(this.library, this.file);
  }

  /** Removes what libfaketime leaves of a process that was killed. */
  forget(processId: number | undefined): void {
    for (const name of ["faketime_shm_", "sem.faketime_sem_"]) {
      rmSync(join("/dev/shm", `${name}${processId}`), { force: true });
    }
  }

  /** Puts it so far ahead of the machine's, or back where it is below 0. */
  set(byMs: number): void {
    // In one step, so that nobody reads a half of it.
    writeFileSync(`${this.file}.new`, `${byMs < 0 ? "" : "+"}${byMs / 1000}\n`);
    renameSync(`${this.file}.new`, this.file);
  }
}

function environmentOf(library: string, file: string): Record<string, string> {
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    DONT_FAKE_MONOTONIC: "1",
    NO_FAKE_STAT: "1",
  };
}

interface Found {
  library?: string;
  reason?: string;
}

let result: Promise<Found> | undefined;

/** Looks for it once, and tries it: a program that is linked otherwise would not heed it. */
function found(): Promise<Found> {
  result ??= findFakeTime(() => undefined)
    .then(async (library) => ((await works(library)) ? { library } : { reason: `${library} has no effect on Node` }))
    .catch((error: Error) => ({ reason: error.message.trim().split("\n")[0] as string }));
  return result;
}

async function works(library: string): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), filesPrefix));
  try {
    const file = join(folder, "clock");
    writeFileSync(file, `+${TRIED_MS / 1000}\n`);
    const env = { ...process.env, ...environmentOf(library, file) };
    const { stdout } = await promisify(execFile)(process.execPath, ["-p", "Date.now()"], { env });
    return Math.abs(Number(stdout) - Date.now() - TRIED_MS) < TRIED_MS / 2;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
