import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "tar";
import { root } from "../../toolchain/dist/paths";

/**
 * Makes npm take the driver of SQLite that this checkout has compiled, as it takes a ready build where the internet offers one. Compiling it
 * anew takes minutes.
 * @returns the environment in which npm does so
 */
export async function withCompiledDriver(folder: string): Promise<NodeJS.ProcessEnv> {
  const driver = join(root, "node_modules", "better-sqlite3");
  const { version } = JSON.parse(readFileSync(join(driver, "package.json"), "utf8")) as { version: string };
  const { modules } = process.versions;
  const name = `better-sqlite3-v${version}-node-v${modules}-${process.platform}-${process.arch}.tar.gz`;
  await create({ cwd: driver, file: join(folder, name), gzip: true }, ["build/Release/better_sqlite3.node"]);
  return { ...process.env, npm_config_better_sqlite3_local_prebuilds: folder };
}
