import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "../run";
import type { Release } from "./artifact";

/** What a preview takes beside its program. */
export interface PreviewOptions {
  /** PULUMI_HOME; default: the engine's own. */
  home?: string;
  /** Folders of further programs, such as a language's host. */
  path?: string[];
  variables?: Record<string, string>;
}

/**
 * Previews a program on the real engine, in a state of its own.
 * @param folder of the program
 * @returns how many resources it would create
 * @throws Error when it would create none
 */
export async function previewStack(folder: string, release: Release, options: PreviewOptions = {}): Promise<number> {
  const { engine, broker } = release;
  const state = join(folder, ".state");
  mkdirSync(state);
  const env = {
    ...process.env,
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_CONFIG_PASSPHRASE: "preview",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_HOME: options.home ?? engine.home,
    PATH: [...(options.path ?? []), engine.binFolder, process.env.PATH].join(":"),
    ...options.variables,
  };
  const pulumi = (...args: string[]): Promise<string> => run("pulumi", args, { cwd: folder, env });
  await pulumi("stack", "init", "preview");
  const { username, password } = new URL(broker.amqpUrl);
  const config = { "rabbitmq:endpoint": broker.managementUrl, "rabbitmq:username": username };
  await pulumi(
    "config",
    "set-all",
    ...Object.entries(config).flatMap(([key, value]) => ["--plaintext", `${key}=${value}`]),
  );
  await pulumi("config", "set", "--secret", "rabbitmq:password", decodeURIComponent(password));
  const output = await pulumi("preview", "--color", "never");
  const created = Number(/^ +\+ (\d+) to create$/m.exec(output)?.[1] ?? 0);
  if (created > 0) return created;
  throw new Error(`the preview would create nothing:\n${output}`);
}
