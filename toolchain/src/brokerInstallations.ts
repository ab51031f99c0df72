import { existsSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { BrokerInstallation } from "./broker";
import { Way, getCached } from "./cache";
import { QUIET, forbidServices, installPackages, isRootOnDebian } from "./debianPackages";
import { hasCommand, run, whichCommand } from "./run";
import { versions } from "./versions";

/**
 * Finds this machine's RabbitMQ; on Debian as root it is installed first.
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
 * Finds RabbitMQ 4.3 of a newer Debian release, in a folder of the cache.
 * @throws Error that says what is missing
 */
export async function newestInstallation(progress: (line: string) => void): Promise<BrokerInstallation> {
  const folder = await getCached(`debian-${versions.debianWithRabbit43}`, [debootstrap()], progress);
  const installation = await findInstallation(folder);
  if (installation === undefined)
    throw new Error(`no rabbitmq-server in ${folder}; remove the folder to have it made again`);
  return installation;
}

/** Debian's keys, with which everything that debootstrap fetches is verified. */
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

function debootstrap(): Way {
  return {
    name: `debootstrap of Debian ${versions.debianWithRabbit43}`,
    async fill(folder, progress) {
      if (!isRootOnDebian()) throw new Error("only root on Debian can do this");
      if (!(await hasCommand("debootstrap")) || !existsSync(KEYRING))
        await installPackages(["debootstrap", "debian-archive-keyring", "gpgv"], progress);
      const scripts = "/usr/share/debootstrap/scripts";
      const script = join(scripts, versions.debianWithRabbit43);
      if (!existsSync(script)) symlinkSync("sid", script);
      // Without a keyring, debootstrap would only warn about unsigned packages.
      const options = ["--force-check-gpg", `--keyring=${KEYRING}`, "--variant=minbase"];
      // Everything that it mounts disappears with its process, however that ends.
      const command = ["--mount", "debootstrap", ...options, versions.debianWithRabbit43, folder];
      await run("unshare", command, { onLine: progress });
      forbidServices(folder);
      // Without this file, the node can't find its own host.
      writeFileSync(join(folder, "etc/hosts"), `127.0.0.1 localhost ${hostname()}\n`);
      const install = ["apt-get", "install", "-y", "--no-install-recommends", "rabbitmq-server"];
      await run("chroot", [folder, ...install], { env: { ...process.env, ...QUIET }, onLine: progress });
      await run("chroot", [folder, "apt-get", "clean"]);
    },
  };
}

/** The server's start script of an installation, or undefined; Debian's wrapper is not used, because it would switch to a system user. */
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
