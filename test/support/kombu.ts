import { join } from "node:path";
import { getCached } from "../../toolchain/dist/cache";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";

const requirements = join(root, "test", "kombu", "requirements.txt");

/** Runs Celery's own library: declares its network and a `tasks` queue, and publishes delayed tasks; gives their keys. */
export async function runKombu(
  url: string,
  options: { queueType: string; prefix?: string; countdownsSeconds?: number[] },
): Promise<string[]> {
  const install = {
    name: "pip",
    fill: async (folder: string): Promise<void> => {
      const flags = ["--quiet", "--disable-pip-version-check", "--no-deps", "--target", folder];
      await run("python3", ["-m", "pip", "install", ...flags, "--requirement", requirements]);
    },
  };
  const folder = await getCached("kombu-5.7.0", [install], () => undefined);
  const args = [url, options.queueType, options.prefix ?? "", ...(options.countdownsSeconds ?? []).map(String)];
  const env = { ...process.env, PYTHONPATH: folder };
  return (await run("python3", [join(root, "test", "kombu", "client.py"), ...args], { env })).trim().split("\n");
}
