import { installPackages, isRootOnDebian } from "./debianPackages";
import { hasCommand } from "./run";

/** The shells that the command's completions are tested with; Debian's packages have the same names. */
export const shells = ["bash", "zsh", "fish"];

/**
 * Makes sure that the shells are here, which the command's completions are tested with.
 * @throws Error that says which one can't be had
 */
export async function findShells(progress: (line: string) => void): Promise<void> {
  const missing: string[] = [];
  for (const shell of shells) if (!(await hasCommand(shell))) missing.push(shell);
  if (missing.length === 0) return;
  if (!isRootOnDebian())
    throw new Error(`no ${missing.join(" and ")} on PATH, and only root on Debian could install it`);
  await installPackages(missing, progress);
}
