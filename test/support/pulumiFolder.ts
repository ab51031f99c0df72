import { execFile } from "node:child_process";
import { findEngine } from "../../toolchain/dist/engine";

/** Output and exit code of a run of `pulumi`. */
export interface PulumiEnd {
  code: number | string;
  output: string;
}

/**
 * The command `pulumi` for a program in a folder of its own, where its state and config lie, too; its stack `test` is made.
 * @param folders further ones on PATH, e.g. of a language's host
 * @throws Error if the stack can't be made
 */
export async function pulumiIn(
  cwd: string,
  { folders = [], variables = {} }: { folders?: string[]; variables?: Record<string, string> } = {},
): Promise<(...args: string[]) => Promise<PulumiEnd>> {
  const engine = await findEngine(() => undefined);
  const env = {
    ...process.env,
    ...variables,
    PATH: [engine.binFolder, ...folders, process.env.PATH].join(":"),
    PULUMI_HOME: engine.home,
    PULUMI_BACKEND_URL: `file://${cwd}`,
    PULUMI_CONFIG_PASSPHRASE: "dev",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_NODEJS_TRANSPILE_ONLY: "true",
  };
  const pulumi = (...args: string[]): Promise<PulumiEnd> =>
    new Promise((resolve) =>
      execFile("pulumi", [...args, "--stack", "test"], { cwd, env }, (error, out, errors) =>
        resolve({ code: error?.code ?? 0, output: `${out}${errors}` }),
      ),
    );
  const { code, output } = await pulumi("stack", "init");
  if (code !== 0) throw new Error(output);
  return pulumi;
}
