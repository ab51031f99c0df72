import { cpSync } from "node:fs";
import { join } from "node:path";
import { LanguageHost, findPythonHost } from "../../toolchain/dist/languageHosts";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { temporaryFolder } from "./temporaryFolder";

/** Finds Python's host with the SDK in a folder, and its metadata beside it, as an editable installation has them. */
export async function findPythonWithSdk(): Promise<LanguageHost> {
  const { folder, variables } = await findPythonHost(() => undefined);
  const sdk = temporaryFolder();
  cpSync(join(root, "sdk", "python"), sdk, { recursive: true });
  await run("python3", ["-c", "import setuptools; setuptools.setup()", "--quiet", "egg_info"], { cwd: sdk });
  return { folder, variables: { ...variables, PYTHONPATH: `${variables.PYTHONPATH}:${sdk}` } };
}
