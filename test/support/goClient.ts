import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { cachedLibraries } from "./publishHelpers";

const client = join(root, "clients", "go");

/** Runs Go's tests in clients/go, with the modules that its go.sum pins; without variables, those that need no broker. */
export async function runGoTests(args: string[], environment: Record<string, string> = {}): Promise<string> {
  const modules = await cachedLibraries("go", join(client, "go.sum"), async (folder) => {
    // What Go makes read-only could not be removed again.
    const env = { ...process.env, GOMODCACHE: folder, GOFLAGS: "-modcacherw" };
    await run("go", ["mod", "download"], { cwd: client, env });
  });
  const offline = { GOMODCACHE: modules, GOFLAGS: "-mod=readonly", GOPROXY: "off", GOTOOLCHAIN: "local" };
  return run("go", ["test", ...args, "."], {
    cwd: client,
    env: { ...process.env, RABBITMQ_URL: "", ...offline, ...environment },
  });
}
