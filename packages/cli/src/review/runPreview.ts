import { spawn } from "node:child_process";
import { CommandError, exitCodes } from "../failure";

/**
 * Runs the preview of a stack, unchanged resources included, in the current folder.
 * @returns its JSON, also of a preview that failed half-way
 * @throws CommandError when there is no engine, or it printed no JSON
 */
export async function runPreview(stack: string, more: string[] = []): Promise<string> {
  const { code, output, errors } = await run(["preview", "--json", "--show-sames", "--stack", stack, ...more]);
  if (output.trim().startsWith("{")) return output;
  const why = errors.trim().split("\n").slice(-3).join(" ") || `it ended with ${code}`;
  throw new CommandError(exitCodes.badInput, `pulumi preview of stack ${stack} printed no plan: ${why}`);
}

function run(args: string[]): Promise<{ code: number | null; output: string; errors: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("pulumi", args, { stdio: ["ignore", "pipe", "pipe"] });
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
