import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join, relative } from "node:path";
import { Listr } from "listr2";
import { Engine, findEngine } from "./engine";
import { brokerEnvironment, environmentFile, pulumiEnvironment, writeEnvironmentFile } from "./environment";
import { interrupted, track } from "./interruption";
import { LocalBroker, findBroker } from "./localBroker";
import { localFolder, root } from "./paths";
import { endProcessesWith } from "./processes";
import { run } from "./run";
import { RunLog } from "./runLog";
import { hasStaleLock } from "./staleLock";

const STACK = "dev";
/** Marks the engine's plugins of this run: they have process groups of their own and may outlive it. */
const RUN_VARIABLE = "RABBITMQ_DELAY_RUN";
const PLUGIN_GRACE_MS = 3000;

interface Found {
  engine?: Engine;
  broker?: LocalBroker;
}

/** `make up`: engine, broker, then `pulumi up` on stack dev. */
export async function up(): Promise<void> {
  if (process.stdout.isTTY) {
    printWhatNow(await bringUp());
    return;
  }
  const log = new RunLog(join(localFolder, "up.log"));
  console.log(`Bringing up stack ${STACK}; progress is written to ${log.name}.`);
  try {
    printWhatNow(await bringUp(log));
  } catch (error) {
    if (interrupted.aborted) throw error;
    throw new Error(`${(error as Error).message}\nThe end of ${log.name}:\n\n${log.tail()}`, { cause: error });
  } finally {
    log.close();
  }
}

async function bringUp(log?: RunLog): Promise<LocalBroker> {
  const { engine, broker } = await (log === undefined ? findPartsOnTerminal() : findParts(log));
  const variables = { ...pulumiEnvironment(engine), ...brokerEnvironment(broker) };
  writeEnvironmentFile(variables, engine.binFolder);
  const env = { ...process.env, ...variables, PATH: `${engine.binFolder}:${process.env.PATH}` };
  await run("pulumi", ["stack", "select", "--create", STACK], { cwd: root, env });
  if (hasStaleLock(variables.PULUMI_BACKEND_URL as string)) {
    const notice = "An earlier update was killed; its lock is lifted and this one repairs what it left.";
    if (log === undefined) console.log(notice);
    else log.write(notice);
    await run("pulumi", ["cancel", "--yes", "--stack", STACK], { cwd: root, env });
  }
  // The state may describe another broker than the one that RABBITMQ_URL names today.
  const refresh = broker.isForeign ? ["--refresh"] : [];
  await pulumiUp(["--yes", "--skip-preview", "--suppress-outputs", "--stack", STACK, ...refresh], env, log);
  return broker;
}

/** Runs `pulumi up`, on the terminal or into a log; an interrupted update ends properly, and its plugins end with it. */
async function pulumiUp(options: string[], given: NodeJS.ProcessEnv, log?: RunLog): Promise<void> {
  interrupted.throwIfAborted();
  const id = randomUUID();
  const child = spawn("pulumi", ["up", ...options], {
    cwd: root,
    env: { ...given, [RUN_VARIABLE]: id },
    stdio: log === undefined ? "inherit" : ["ignore", log.descriptor, log.descriptor],
    // In the terminal's foreground, or it could not draw there.
    detached: log !== undefined,
  });
  track(child, { signal: "SIGINT", isForeground: log === undefined });
  const end = await new Promise<string | undefined>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code === 0 ? undefined : String(code ?? signal)));
  });
  if (end === undefined) return;
  await endProcessesWith(RUN_VARIABLE, id, PLUGIN_GRACE_MS);
  throw new Error(`pulumi up ended with ${end}`);
}

async function findPartsOnTerminal(): Promise<Required<Found>> {
  const found: Found = {};
  const tasks = new Listr<Found>(
    [
      {
        title: "Pulumi engine and RabbitMQ provider",
        task: async (context, task) => {
          context.engine = await findEngine((line) => (task.output = line));
          task.title = `Pulumi engine (${context.engine.origin}) and RabbitMQ provider`;
        },
      },
      {
        title: "Broker",
        task: async (context, task) => {
          context.broker = await findBroker((line) => (task.output = line));
          task.title = `Broker: ${context.broker.origin}, ${context.broker.managementUrl}`;
        },
      },
    ],
    { ctx: found, concurrent: true, registerSignalListeners: false },
  );
  await tasks.run();
  return found as Required<Found>;
}

async function findParts(log: RunLog): Promise<Required<Found>> {
  const write = (line: string): void => log.write(line);
  // Both run to their end even if one fails, so that nothing is left at work behind an error.
  const [engine, broker] = await Promise.allSettled([findEngine(write), findBroker(write)]);
  if (engine.status === "rejected") throw engine.reason as Error;
  if (broker.status === "rejected") throw broker.reason as Error;
  log.write(`Broker: ${broker.value.origin}, ${broker.value.managementUrl}`);
  return { engine: engine.value, broker: broker.value };
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
Review a change:      . ${environment} && pulumi preview --stack ${STACK}
Stop the broker:      make down`);
}
