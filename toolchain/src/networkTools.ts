import { installPackages, isRootOnDebian } from "./debianPackages";
import { hasCommand } from "./run";

/** Debian's package for each program that the tests' pods need; Debian itself has the others. */
const PACKAGES: Record<string, string> = { ip: "iproute2", openssl: "openssl" };

/**
 * Makes sure that pods can run on this machine: their networks need `ip` and root.
 * @throws Error that says what is missing
 */
export async function findNetworkTools(progress: (line: string) => void): Promise<void> {
  const missing: string[] = [];
  for (const command of Object.keys(PACKAGES)) if (!(await hasCommand(command))) missing.push(command);
  if (missing.length === 0) return;
  if (!isRootOnDebian())
    throw new Error(`no ${missing.join(" and ")} on PATH, and only root on Debian could install it`);
  await installPackages(
    missing.map((command) => PACKAGES[command] as string),
    progress,
  );
}
