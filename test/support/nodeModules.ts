import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";

/** npm's list of what is installed, the only file there that npm writes in place. */
const LIST = ".package-lock.json";

/** Gives a folder the packages of this checkout, which npm may change there: as links, where both are on one file system. */
export async function copyNodeModules(folder: string): Promise<void> {
  const [from, to] = [join(root, "node_modules"), join(folder, "node_modules")];
  await run("cp", ["-al", from, to]).catch(() => {
    rmSync(to, { recursive: true, force: true });
    return run("cp", ["-a", from, to]);
  });
  rmSync(join(to, LIST));
  copyFileSync(join(from, LIST), join(to, LIST));
}
