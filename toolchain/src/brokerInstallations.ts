import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { BrokerInstallation } from "./brokerCommand";
import { Way, cached } from "./cache";
import { hasCommand, run, whichCommand } from "./run";
import { versions } from "./versions";

/** Installing starts no service: whatever is started here is a private node. */
const NO_SERVICES = "#!/bin/sh\nexit 101\n";

/** Whether this is Debian (or a child of it) and we may install. */
export function isRootOnDebian(): boolean {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version");
}

/**
 * This machine's RabbitMQ; on Debian as root it is installed first.
 * @throws Error that says what was tried
 */
export async function localInstallation(progress: (line: string) => void): Promise<BrokerInstallation> {
  const found = await findInstallation();
  if (found !== undefined) return found;
  if (!isRootOnDebian()) {
    throw new Error(
      "no RabbitMQ: RABBITMQ_URL is not set, no Docker daemon answers, rabbitmq-server is not installed, and only root on Debian " +
        "could install it here. Start one (docker run -p 5672:5672 -p 15672:15672 rabbitmq:4.3-management) or set RABBITMQ_URL",
    );
  }
  await installPackages(["rabbitmq-server"], progress);
  const installed = await findInstallation();
  if (installed === undefined)
    throw new Error("Debian's rabbitmq-server was installed, but its start script was not found");
  return installed;
}

/**
 * RabbitMQ 4.3 of a newer Debian release, in a folder of the cache.
 * @throws Error that says what is missing
 */
export async function newestInstallation(progress: (line: string) => void): Promise<BrokerInstallation> {
  const folder = await cached(`debian-${versions.debianWithRabbit43}`, [debootstrap()], progress);
  const installation = await findInstallation(folder);
  if (installation === undefined)
    throw new Error(`no rabbitmq-server in ${folder}; remove the folder to have it made again`);
  return installation;
}

function debootstrap(): Way {
  return {
    name: `debootstrap of Debian ${versions.debianWithRabbit43}`,
    async fill(folder, progress) {
      if (!isRootOnDebian()) throw new Error("only root on Debian can do this");
      if (!(await hasCommand("debootstrap"))) await installPackages(["debootstrap"], progress);
      const scripts = "/usr/share/debootstrap/scripts";
      const script = join(scripts, versions.debianWithRabbit43);
      if (!existsSync(script)) symlinkSync("sid", script);
      const options = ["--variant=minbase", versions.debianWithRabbit43, folder];
      await run("debootstrap", options, { onLine: progress });
      writeFileSync(join(folder, "usr/sbin/policy-rc.d"), NO_SERVICES);
      chmodSync(join(folder, "usr/sbin/policy-rc.d"), 0o755);
      // Without it, the node can't find its own host.
      writeFileSync(join(folder, "etc/hosts"), `127.0.0.1 localhost ${hostname()}\n`);
      const install = ["apt-get", "install", "-y", "--no-install-recommends", "rabbitmq-server"];
      await run("chroot", [folder, ...install], { env: { ...process.env, ...QUIET }, onLine: progress });
      await run("chroot", [folder, "apt-get", "clean"]);
    },
  };
}

const QUIET = { DEBIAN_FRONTEND: "noninteractive" };

/** Installs Debian packages without starting what they contain. */
export async function installPackages(packages: string[], progress: (line: string) => void): Promise<void> {
  const policy = "/usr/sbin/policy-rc.d";
  const before = existsSync(policy) ? readFileSync(policy) : undefined;
  if (before === undefined) {
    writeFileSync(policy, NO_SERVICES);
    chmodSync(policy, 0o755);
  }
  const env = { ...process.env, ...QUIET };
  const wait = ["-o", "DPkg::Lock::Timeout=300"];
  try {
    await run("apt-get", [...wait, "update"], { env, onLine: progress });
    await run("apt-get", [...wait, "install", "-y", "--no-install-recommends", ...packages], { env, onLine: progress });
  } finally {
    if (before === undefined) rmSync(policy, { force: true });
  }
}

/** The server's start script of an installation, or undefined: Debian's wrapper would drop to a system user. */
async function findInstallation(root = ""): Promise<BrokerInstallation | undefined> {
  const library = "/usr/lib/rabbitmq/lib";
  if (existsSync(root + library)) {
    const version = readdirSync(root + library).find((name) => name.startsWith("rabbitmq_server-"));
    const script = `${library}/${version}/sbin/rabbitmq-server`;
    if (version !== undefined && existsSync(root + script)) return { root, script };
  }
  const script = root === "" ? await whichCommand("rabbitmq-server") : undefined;
  return script === undefined ? undefined : { root, script };
}
