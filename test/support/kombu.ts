import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { pythonPackages } from "./pythonPackages";

const requirements = join(root, "test", "kombu", "requirements.txt");

/** Runs Celery's own library: declares its network and a `tasks` queue, and publishes delayed tasks; gives their keys. */
export async function runKombu(
  url: string,
  options: { queueType: string; prefix?: string; countdownsSeconds?: number[] },
): Promise<string[]> {
  const folder = await pythonPackages("kombu-5.7.0", requirements);
  const args = [url, options.queueType, options.prefix ?? "", ...(options.countdownsSeconds ?? []).map(String)];
  const env = { ...process.env, PYTHONPATH: folder };
  return (await run("python3", [join(root, "test", "kombu", "client.py"), ...args], { env })).trim().split("\n");
}
