import { strict as assert } from "node:assert";
import fs from "node:fs";
import { join } from "node:path";
import { main } from "rabbitmq-delay/testing";
import { root } from "../../toolchain/dist/paths";
import { afterThisTest } from "./cleanup";

/** File of the command, for tests that need a process of its own, e.g. to kill it. */
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
 * @param environment variables that differ; undefined removes one. What this process knows of brokers is removed
 * @param input its standard input
 */
export function runCommand(args: string[], environment: NodeJS.ProcessEnv = {}, input = ""): Promise<CommandEnd> {
  const brokers = Object.keys(process.env).filter((name) => /^RABBITMQ_(?!DELAY_TEST)/.test(name));
  const unset = Object.fromEntries(brokers.map((name) => [name, undefined]));
  const end = last.then(() => run(args, { ...unset, ...environment }, input));
  last = end.catch(() => undefined);
  return end;
}

/** Findings of `check` about rights that logins of a vhost lack. */
export async function missingRights(managementUrl: string, vhost: string): Promise<string[]> {
  const { out, err } = await runCommand(["check", "--management", managementUrl, "--vhost", vhost, "--json"]);
  assert.equal(err, "");
  return (JSON.parse(out) as Record<"rule" | "subject" | "message", string>[])
    .filter(({ rule }) => rule === "missing-right")
    .map(({ subject, message }) => `${subject}: ${message}`);
}

async function run(args: string[], environment: NodeJS.ProcessEnv, input: string): Promise<CommandEnd> {
  let [out, err] = ["", ""];
  const { stdout, stderr, exitCode } = process;
  const [outWrite, errWrite, isTerminal] = [stdout.write, stderr.write, stdout.isTTY];
  const { readFileSync } = fs;
  const before = Object.fromEntries(Object.keys(environment).map((name) => [name, process.env[name]]));
  let isRestored = false;
  const restore = (): void => {
    if (isRestored) return;
    isRestored = true;
    setEnvironment(before);
    Object.assign(fs, { readFileSync });
    Object.assign(stdout, { write: outWrite, isTTY: isTerminal });
    Object.assign(stderr, { write: errWrite });
    process.exitCode = exitCode;
  };
  // A run that outlives its test would take Mocha's own output, and hold up the next one.
  afterThisTest(() => {
    if (!isRestored) last = Promise.resolve();
    restore();
  });
  try {
    setEnvironment(environment);
    Object.assign(stdout, { write: writeTo((text) => (out += text)), isTTY: false });
    Object.assign(stderr, { write: writeTo((text) => (err += text)) });
    const readFile = (file: fs.PathOrFileDescriptor, ...more: []): unknown =>
      file === 0 ? Buffer.from(input) : readFileSync(file, ...more);
    Object.assign(fs, { readFileSync: readFile });
    process.exitCode = 0;
    await main(["node", "rabbitmq-delay", ...args]);
    return { code: Number(process.exitCode), out, err };
  } finally {
    restore();
  }
}

/** A stream's `write` of which only the text is kept. */
function writeTo(add: (text: string) => void): (data: string | Uint8Array, ...more: unknown[]) => boolean {
  return (data, ...more) => {
    add(typeof data === "string" ? data : Buffer.from(data).toString());
    const written = more.at(-1);
    if (typeof written === "function") process.nextTick(written as () => void);
    return true;
  };
}

function setEnvironment(values: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
