import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { marked } from "../child";
import type { CommandPart, Mistake } from "../plan/types";
import { command } from "../rig";
import type { Round, RunningPart } from "./part";

/** A run of the command that has to go wrong. */
interface Run {
  args: string[];
  environment?: Record<string, string>;
}

/** Runs of the command with a mistake in each, and a secret at hand. */
export function startCommand(round: Round, part: CommandPart, vhost: string): RunningPart {
  const { broker, history, secrets, folder } = round;
  const password = secrets.add("a password that the command was given");
  const own = join(folder, part.name);
  mkdirSync(own);
  const address = broker.amqpUrl(vhost);
  const database = `postgres://orders:${password}@127.0.0.1:1/orders`;
  const file = (name: string, text: string): string => {
    writeFileSync(join(own, name), text);
    return join(own, name);
  };
  const config = (more: string): string =>
    `store: ${database}\namqp: amqp://orders:${password}@127.0.0.1:1/\n${more}\n`;
  const network = file("network.json", JSON.stringify(delayNetwork({ preset: "custom", prefix: "orders", levels: 4 })));
  const runs: Record<Mistake, Run> = {
    "unknown-setting": { args: ["store", "run", "--config", file("unknown.yaml", config("colour: blue"))] },
    "wrong-setting": { args: ["store", "run", "--config", file("wrong.yaml", config("batchSize: many"))] },
    "mistyped-database": {
      args: ["store", "stats"],
      environment: { RABBITMQ_URL: "", RABBITMQ_DELAY_STORE: `postgres//orders:${password}@127.0.0.1/orders` },
    },
    "mistyped-broker": {
      args: [
        "publish",
        "--network",
        network,
        "Orders",
        "--delay",
        "1s",
        "--amqp",
        `amqq://orders:${password}@127.0.0.1/`,
      ],
    },
    "refused-login": {
      args: ["store", "stats", "--amqp", address.replace(/\/\/[^@]+@/, `//nobody:${password}@`)],
    },
    "database-away": { args: ["store", "stats", "--store", database] },
    "broken-config": { args: ["store", "run", "--config", file("broken.yaml", config('store: "twice\nhttp: [off'))] },
    "missing-network": {
      args: ["publish", "--network", join(own, "none.json"), "Orders", "--delay", "1s", "--amqp", address],
    },
  };
  const others = part.mistakes.map(({ atMs, mistake }) => ({
    atMs,
    run: async () => {
      const code = await runOnce(runs[mistake], (text) =>
        secrets.read(part.name, `the command's output (${mistake})`, text),
      );
      history.record({ kind: "ran", part: part.name, mistake, code });
    },
  }));
  return {
    ...{ name: part.name, vhost, queues: [], endpoints: [], consumers: [], dispatchers: [], channels: [], others },
    publish: () => Promise.resolve(),
  };
}

const TIME_MS = 60_000;

function runOnce({ args, environment }: Run, onOutput: (text: string) => void): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [command, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...environment, ...marked("round") },
      timeout: TIME_MS,
      killSignal: "SIGKILL",
    });
    child.stdout.on("data", (data: Buffer) => onOutput(data.toString()));
    child.stderr.on("data", (data: Buffer) => onOutput(data.toString()));
    child.once("close", (code) => resolve(code));
  });
}
