import { join } from "node:path";
import { main } from "rabbitmq-delay/testing";
import { root } from "../../toolchain/dist/paths";

/** File of the command, for tests that need a process of its own, e.g. to kill it or for its standard input. */
export const command = join(root, "packages", "cli", "bin", "rabbitmq-delay.js");

/** Exit code and output of the command. */
export interface CommandEnd {
  code: number;
  out: string;
  err: string;
}

/** The latest run: two at once would take each other's output. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the command to its end in this process; most of a short process is the loading of modules.
 * @param environment variables that differ; undefined removes one
 */
export function runCommand(args: string[], environment: NodeJS.ProcessEnv = {}): Promise<CommandEnd> {
  const end = last.then(() => run(args, environment));
  last = end.catch(() => undefined);
  return end;
}

async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<CommandEnd> {
  let [out, err] = ["", ""];
  const { stdout, stderr, exitCode } = process;
  const [outWrite, errWrite, isTerminal] = [stdout.write, stderr.write, stdout.isTTY];
  const before = Object.fromEntries(Object.keys(environment).map((name) => [name, process.env[name]]));
  try {
    setEnvironment(environment);
    Object.assign(stdout, { write: (text: string | Uint8Array) => (out += String(text)) !== "", isTTY: false });
    Object.assign(stderr, { write: (text: string | Uint8Array) => (err += String(text)) !== "" });
    process.exitCode = 0;
    await main(["node", "rabbitmq-delay", ...args]);
    return { code: Number(process.exitCode), out, err };
  } finally {
    setEnvironment(before);
    Object.assign(stdout, { write: outWrite, isTTY: isTerminal });
    Object.assign(stderr, { write: errWrite });
    process.exitCode = exitCode;
  }
}

function setEnvironment(values: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
