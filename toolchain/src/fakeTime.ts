import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { installPackages, isRootOnDebian } from "./debianPackages";

/** Debian has a folder for each architecture; other systems have one of the others. */
const PARENTS = ["/usr/lib", "/usr/lib64", "/usr/local/lib"];
/** The library for programs with threads, such as Node. */
const LIBRARY = join("faketime", "libfaketimeMT.so.1");

/**
 * Finds this machine's libfaketime, which gives a process another time of day; on Debian as root it is installed first.
 * @throws Error that says what was tried
 */
export async function findFakeTime(progress: (line: string) => void): Promise<string> {
  const found = findLibrary();
  if (found !== undefined) return found;
  if (!isRootOnDebian()) throw new Error("no libfaketime, and only root on Debian could install it here");
  await installPackages(["libfaketime"], progress);
  const installed = findLibrary();
  if (installed === undefined) throw new Error(`Debian's libfaketime was installed, but there is no ${LIBRARY}`);
  return installed;
}

function findLibrary(): string | undefined {
  return PARENTS.filter((parent) => existsSync(parent))
    .flatMap((parent) => [parent, ...readdirSync(parent).map((name) => join(parent, name))])
    .map((folder) => join(folder, LIBRARY))
    .find((file) => existsSync(file));
}
