import { getCached } from "../../toolchain/dist/cache";
import { run } from "../../toolchain/dist/run";

/**
 * Python packages in a folder for PYTHONPATH, which are fetched once.
 * @param name of the folder in the cache, with the versions in it
 * @param requirements a file with the SHA-256 of each package
 */
export function pythonPackages(name: string, requirements: string): Promise<string> {
  const install = { name: "pip", fill: (folder: string) => installPython(folder, requirements) };
  return getCached(name, [install], () => undefined);
}

/** Installs Python packages into a folder, none but those that a file of requirements names. */
export async function installPython(folder: string, requirements: string): Promise<void> {
  const flags = ["--quiet", "--disable-pip-version-check", "--no-deps", "--target", folder];
  await run("python3", ["-m", "pip", "install", ...flags, "--requirement", requirements]);
}
