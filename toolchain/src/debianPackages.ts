import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withLock } from "./cache";
import { interrupted } from "./interruption";
import { cacheFolder } from "./paths";
import { run } from "./run";

/** Installing starts no service, because everything that is started here is a private node. */
export const NO_SERVICES = "#!/bin/sh\n# rabbitmq-delay: installing starts no service\nexit 101\n";
const POLICY = "/usr/sbin/policy-rc.d";

/** English, because waiting depends on the messages of apt-get. */
export const QUIET = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C.UTF-8", LANGUAGE: "C" };

/** How long to wait for other runs of apt-get: a fresh cloud machine updates itself at its first boot. */
const LOCK_TIMEOUT_MS = 300_000;
const POLL_MS = 1000;

/** The options of apt-get beside its command. */
export interface AptOptions {
  /** Settings for `-o`, e.g. `Dir::State::lists=/somewhere`. */
  settings?: string[];
  /** How long to wait for a lock of another process, in milliseconds; default 5 minutes. */
  lockTimeoutMs?: number;
}

/** Whether this is Debian (or a child of it) and we may install. */
export function isRootOnDebian(): boolean {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version");
}

/** Installs Debian packages, whose signatures apt-get checks, without starting what they contain. */
export async function installPackages(packages: string[], progress: (line: string) => void): Promise<void> {
  mkdirSync(cacheFolder, { recursive: true });
  // One run at a time: the policy of one must not be removed while another still installs.
  await withLock(join(cacheFolder, "debian-packages"), progress, async () => {
    const isOurs = !existsSync(POLICY) || readFileSync(POLICY, "utf8") === NO_SERVICES;
    if (isOurs) forbidServices("");
    try {
      await repairPackages(progress);
      await aptGet(["update"], progress);
      await aptGet(["install", "-y", "--no-install-recommends", ...packages], progress);
    } finally {
      if (isOurs) rmSync(POLICY, { force: true });
    }
  });
}

/** Keeps packages that are installed below a root from being started. */
export function forbidServices(root: string): void {
  writeFileSync(root + POLICY, NO_SERVICES);
  chmodSync(root + POLICY, 0o755);
}

/** Repairs an install that was killed half-way, which would keep every later one from starting. */
async function repairPackages(progress: (line: string) => void): Promise<void> {
  const journal = "/var/lib/dpkg/updates";
  if (!existsSync(journal) || readdirSync(journal).length === 0) return;
  progress("finishing an interrupted install of packages");
  await run("dpkg", ["--configure", "-a"], { env: { ...process.env, ...QUIET }, onLine: progress });
}

/**
 * Runs apt-get, and waits for other processes that hold one of its locks. apt-get itself only waits for dpkg's lock, and fails at once if
 * another run fetches package lists or archives.
 * @throws Error that says which lock was held all the time, or what apt-get says
 */
export async function aptGet(
  args: string[],
  progress: (line: string) => void,
  { settings = [], lockTimeoutMs = LOCK_TIMEOUT_MS }: AptOptions = {},
): Promise<void> {
  const seconds = Math.ceil(lockTimeoutMs / 1000);
  // A mirror that is updated at this moment has other files than its lists say.
  const all = [`DPkg::Lock::Timeout=${seconds}`, "Acquire::Retries=3", ...settings].flatMap((setting) => [
    "-o",
    setting,
  ]);
  const deadline = Date.now() + lockTimeoutMs;
  for (;;) {
    const error = await run("apt-get", [...all, ...args], { env: { ...process.env, ...QUIET }, onLine: progress }).then(
      () => undefined,
      (reason: Error) => reason,
    );
    if (error === undefined) return;
    const lock = /Could not get lock (\S+?)\.? /.exec(`${error.message} `)?.[1];
    if (lock === undefined || interrupted.aborted) throw error;
    if (Date.now() >= deadline) {
      throw new Error(
        `apt-get ${args[0]}: another process has held ${lock} for ${seconds} s; end it or wait until it is through, then run this again`,
      );
    }
    progress(`another process holds ${lock}; waiting for it, at most ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
