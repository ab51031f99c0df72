import { spawnSync } from "node:child_process";
import { secretsOf, withoutSecrets } from "@rabbitmq-delay/review";
import { CommandError, exitCodes } from "./failure";

/**
 * Reads the outputs of a stack of the current folder, by the engine; secret outputs are hidden.
 * @throws CommandError without an engine, and for a stack that it does not give
 */
export function readStackOutputs(stack: string): Record<string, unknown> {
  const { status, stdout, stderr, error } = spawnSync("pulumi", ["stack", "output", "--json", "--stack", stack], {
    encoding: "utf8",
  });
  if (error !== undefined) {
    throw new CommandError(exitCodes.badInput, "pulumi is not on PATH; . .local/env, or give the outputs as a file");
  }
  if (status === 0) return JSON.parse(stdout) as Record<string, unknown>;
  const why = withoutSecrets(stderr.trim().split("\n").slice(-3).join(" "), secretsOf());
  throw new CommandError(
    exitCodes.outOfReach,
    `--stack: pulumi gives no outputs of ${stack}: ${why || `it ended with ${status}`}`,
  );
}
