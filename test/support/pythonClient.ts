import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { cachedLibraries } from "./publishHelpers";
import { installPython } from "./pythonPackages";

const client = join(root, "clients", "python");

/** Runs Python with clients/python and the libraries that its tests pin. */
export async function runPythonClient(args: string[], environment: Record<string, string> = {}): Promise<string> {
  const requirements = join(client, "tests", "requirements.txt");
  const libraries = await cachedLibraries("pip", requirements, (folder) => installPython(folder, requirements));
  const paths = { PYTHONPATH: [join(client, "src"), libraries].join(":"), PYTHONDONTWRITEBYTECODE: "1" };
  return run("python3", args, { cwd: client, env: { ...process.env, RABBITMQ_URL: "", ...paths, ...environment } });
}
