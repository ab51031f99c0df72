import { spawn } from "node:child_process";
import { CommandError, exitCodes } from "./failure";
import { secretsOf, withoutSecrets } from "@rabbitmq-delay/review";

/** How the preview of a stack ended. */
export interface PreviewRun {
  /** Its JSON. */
  text: string;
  /** The engine's exit code; null where a signal ended it. */
  exitCode: number | null;
}

/**
 * Runs the preview of a stack, with unchanged resources and the steps of replacements, in the current folder.
 * @returns its JSON, also for a preview that failed half-way, with the engine's exit code
 * @throws CommandError when there is no engine, or it printed no JSON; the message contains no secret of the environment
 */
export async function runPreview(stack: string, more: string[] = []): Promise<PreviewRun> {
  const flags = ["--json", "--show-sames", "--show-replacement-steps"];
  const { code, output, errors } = await run(["preview", ...flags, "--stack", stack, ...more]);
  if (/^\s*\{/m.test(output)) return { text: output, exitCode: code };
  const why = withoutSecrets(errors.trim().split("\n").slice(-3).join(" "), secretsOf());
  throw new CommandError(
    exitCodes.outOfReach,
    `pulumi preview of stack ${stack} printed no plan: ${why || `it ended with ${code}`}`,
  );
}

function run(args: string[]): Promise<{ code: number | null; output: string; errors: string }> {
  return new Promise((resolve, reject) => {
    // With this variable, the engine would print one event after another instead of a plan.
    const env = { ...process.env };
    delete env.PULUMI_ENABLE_STREAMING_JSON_PREVIEW;
    const child = spawn("pulumi", args, { stdio: ["ignore", "pipe", "pipe"], env });
    const [output, errors]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (data: Buffer) => output.push(data));
    child.stderr.on("data", (data: Buffer) => errors.push(data));
    child.on("error", () =>
      reject(
        new CommandError(exitCodes.badInput, "pulumi is not on PATH; . .local/env, or give a preview's JSON as a file"),
      ),
    );
    child.on("close", (code) =>
      resolve({ code, output: Buffer.concat(output).toString(), errors: Buffer.concat(errors).toString() }),
    );
  });
}
