import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import type { TestBroker } from "./brokers";
import { afterThisTest } from "./cleanup";
import { pulumiIn } from "./pulumiFolder";

/** Runs the update of a program that a page shows. @param folder in which its packages are installed @returns its outputs */
export async function bringUpProgram(
  folder: string,
  program: string,
  { node }: TestBroker,
): Promise<Record<string, unknown>> {
  writeFileSync(join(folder, "Pulumi.yaml"), "name: orders\nruntime: nodejs\n");
  writeFileSync(join(folder, "index.ts"), program);
  const pulumi = await pulumiIn(folder);
  const { username, password } = new URL(node.amqpUrl);
  const login = { endpoint: node.managementUrl, username, password };
  const run = async (...args: string[]): Promise<string> => {
    const { code, output } = await pulumi(...args);
    assert.equal(code, 0, output);
    return output;
  };
  for (const [key, value] of Object.entries(login)) await run("config", "set", `rabbitmq:${key}`, value);
  await run("up", "--yes", "--skip-preview");
  const output = await run("stack", "output", "--json");
  return JSON.parse(output.slice(output.search(/^\{/m))) as Record<string, unknown>;
}

/**
 * Runs the lines of a service that a page shows, until the test ends.
 * @param folder in which its packages are installed
 * @returns waits for something that it prints
 */
export function startService(
  folder: string,
  lines: string,
  variables: Record<string, string>,
): (expected: RegExp) => Promise<void> {
  const compilerOptions = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 };
  const file = join(folder, "service.mjs");
  writeFileSync(file, transpileModule(lines, { compilerOptions }).outputText);
  const child = spawn(process.execPath, [file], { cwd: folder, env: { ...process.env, ...variables } });
  afterThisTest(() => void child.kill("SIGKILL"));
  let printed = "";
  let wake = (): void => undefined;
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => {
      printed += data.toString();
      wake();
    });
  child.on("exit", () => wake());
  return async (expected) => {
    while (!expected.test(printed)) {
      assert.equal(child.exitCode, null, `the service ended: ${printed}`);
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
}
