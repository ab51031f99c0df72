import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { relative } from "node:path";
import { Listr } from "listr2";
import { newestInstallation } from "./brokerInstallations";
import { Engine, findEngine } from "./engine";
import { brokerEnvironment, environmentFile, pulumiEnvironment, writeEnvironmentFile } from "./environment";
import { LocalBroker, findBroker, removeBroker, stopBroker } from "./localBroker";
import { findPythonHost, findYamlHost } from "./languageHosts";
import { findKubernetesPlugins } from "./kubernetesPlugins";
import { findKubernetes } from "./kubernetesPrograms";
import { findNetworkTools } from "./networkTools";
import { localFolder, root } from "./paths";
import { postgresInstallation } from "./postgresServer";
import { run } from "./run";
import { hasStaleLock } from "./staleLock";

const STACK = "dev";

interface Found {
  engine?: Engine;
  broker?: LocalBroker;
}

/** `make up`: engine, broker, then `pulumi up` on stack dev. */
async function up(): Promise<void> {
  const { engine, broker } = await findParts();
  const variables = { ...pulumiEnvironment(engine), ...brokerEnvironment(broker) };
  writeEnvironmentFile(variables, engine.binFolder);
  const env = { ...process.env, ...variables, PATH: `${engine.binFolder}:${process.env.PATH}` };
  await run("pulumi", ["stack", "select", "--create", STACK], { cwd: root, env });
  if (hasStaleLock(variables.PULUMI_BACKEND_URL as string)) {
    console.log("An earlier update was killed; its lock is lifted and this one repairs what it left.");
    await run("pulumi", ["cancel", "--yes", "--stack", STACK], { cwd: root, env });
  }
  // The state may speak of another broker than the one that RABBITMQ_URL names today.
  const refresh = broker.isForeign ? ["--refresh"] : [];
  await interactive(
    "pulumi",
    ["up", "--yes", "--skip-preview", "--suppress-outputs", "--stack", STACK, ...refresh],
    env,
  );
  printWhatNow(broker);
}

async function findParts(): Promise<Required<Found>> {
  const found: Found = {};
  const tasks = new Listr<Found>(
    [
      {
        title: "Pulumi engine and RabbitMQ provider",
        task: async (context, task) => {
          context.engine = await findEngine(steady((line) => (task.output = line)));
          task.title = `Pulumi engine (${context.engine.origin}) and RabbitMQ provider`;
        },
      },
      {
        title: "Broker",
        task: async (context, task) => {
          context.broker = await findBroker(steady((line) => (task.output = line)));
          task.title = `Broker: ${context.broker.origin}, ${context.broker.managementUrl}`;
        },
      },
    ],
    { ctx: found, concurrent: true, fallbackRenderer: "simple" },
  );
  await tasks.run();
  return found as Required<Found>;
}

/** At most a line every two seconds where lines add up, as in a log. */
function steady(show: (line: string) => void): (line: string) => void {
  let last = 0;
  return (line) => {
    if (!process.stdout.isTTY && Date.now() - last < 2000) return;
    last = Date.now();
    show(line);
  };
}

function printWhatNow(broker: LocalBroker): void {
  const environment = relative(root, environmentFile);
  console.log(`
Publish a message that arrives in 10 seconds, and see it arrive:

  . ${environment}
  pulumi stack output --json > .local/network.json
  node examples/receive.js some-address &
  npx rabbitmq-delay publish --amqp "$RABBITMQ_URL" --network .local/network.json \\
      --delay 10s --destination some-address --body hello

Look at the broker:   ${broker.managementUrl}  (guest / guest on the local one)
Review a change:      . ${environment} && pulumi preview
Stop the broker:      make down`);
}

function interactive(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: "inherit" });
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ${args[0]} ended with ${code}`)),
    );
  });
}

async function down(): Promise<void> {
  console.log(
    (await stopBroker()) ? "The broker is stopped; its data stays until make clean." : "No broker was running.",
  );
}

async function clean(): Promise<void> {
  await stopBroker();
  await removeBroker();
  rmSync(localFolder, { recursive: true, force: true });
}

/** What the tests need beyond `up`, so that their own output starts with tests. */
async function prepareTests(): Promise<void> {
  const line = steady((text) => console.log(text));
  await findEngine(line);
  await findYamlHost(line);
  if (process.getuid?.() === 0) await newestInstallation(line);
  // What can't be had here, the tests that need it tell.
  const parts = [postgresInstallation, findNetworkTools, findPythonHost, findKubernetesPlugins, findKubernetes];
  for (const find of parts) {
    await find(line).catch((error: Error) => line(error.message));
  }
}

const commands: Record<string, () => Promise<void>> = { up, down, clean, "prepare-tests": prepareTests };

const command = commands[process.argv[2] ?? ""];
if (command === undefined) {
  console.error(`usage: node toolchain/dist/main.js ${Object.keys(commands).join("|")}`);
  process.exitCode = 2;
} else {
  command().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
