import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { localInstallation, newestInstallation } from "../../toolchain/dist/brokerInstallations";
import type { BrokerInstallation } from "../../toolchain/dist/broker";
import { killNode, startNode, stopNode } from "../../toolchain/dist/brokerNode";
import { BrokerNode } from "../../toolchain/dist/broker";
import { cacheFolder } from "../../toolchain/dist/paths";
import { versions } from "../../toolchain/dist/versions";
import "./brokerClock";
import { afterThisTest } from "./cleanup";
import { takeTurns } from "./brokerTurns";
import { Management } from "./management";
import { installed, skipIfMissing } from "./missingPrograms";
import { ServerRegister } from "./servers";

/** A broker of its own for tests, on free loopback ports. */
export interface TestBroker {
  node: BrokerNode;
  management: Management;
}

const quiet = (): void => undefined;

/** The oldest and the newest supported broker: Debian's own RabbitMQ, and the newest; the quick tests name one of them. */
const kinds = [
  { version: "3.10", root: "", isNewest: false, install: () => localInstallation(quiet) },
  {
    version: "4.3",
    root: join(cacheFolder, `debian-${versions.debianWithRabbit43}`),
    isNewest: true,
    install: () => newestInstallation(quiet),
  },
].filter(({ version }) => (process.env.RABBITMQ_DELAY_TEST_BROKER ?? version) === version);

if (kinds.length === 0)
  throw new Error(
    `RABBITMQ_DELAY_TEST_BROKER: "${process.env.RABBITMQ_DELAY_TEST_BROKER}" is not allowed; it must be 3.10 or 4.3`,
  );

/** The version of an installation, from its folder's name; undefined before it is installed. */
function installedVersion(root: string): string | undefined {
  const library = `${root}/usr/lib/rabbitmq/lib`;
  if (!existsSync(library)) return undefined;
  const name = readdirSync(library).find((entry) => entry.startsWith("rabbitmq_server-"));
  return name?.slice("rabbitmq_server-".length);
}

/** Whether a version belongs to a series, e.g. 4.3.6 to 4.3. */
export function isOfSeries(version: string, series: string): boolean {
  return version === series || version.startsWith(`${series}.`);
}

/** A suite's name: the intended series, or the version that runs instead. */
export function brokerLabel(series: string, installed: string | undefined): string {
  return installed === undefined || isOfSeries(installed, series)
    ? `RabbitMQ ${series}`
    : `RabbitMQ ${installed}, in place of ${series}`;
}

const running = new ServerRegister<BrokerNode>("brokers", discard);

/**
 * Runs the same tests on each broker, which all files and processes share; tests use different vhosts. Some files' tests take turns instead; see
 * brokerTurns.ts.
 */
export function onEachBroker(define: (broker: () => TestBroker, kind: { isNewest: boolean }) => void): void {
  const suites = kinds.map(({ version, root, isNewest, install }) => {
    const label = brokerLabel(version, installedVersion(root));
    return describe(`on ${label}`, function () {
      let broker: TestBroker;
      before(async function () {
        try {
          broker = brokerOf(await running.shared(`shared-${version}`, async () => start(await installed(install))));
        } catch (error) {
          skipIfMissing(this, error);
        }
        checkVersion(await broker.management.version(), version, label);
      });
      define(() => broker, { isNewest });
    });
  });
  takeTurns(suites);
}

/**
 * Checks that a suite named for a version has run on it, and that CI runs no other than a supported one.
 * @throws Error with the version that was found
 */
export function checkVersion(found: string, series: string, label: string, isCi = process.env.CI === "true"): void {
  if (isOfSeries(found, series)) return;
  if (isCi || !label.includes(found)) {
    throw new Error(`these tests are for RabbitMQ ${series}, and this machine's broker is ${found}; install ${series}`);
  }
}

/** Starts a node for one test alone, e.g. to be killed. */
export async function ownTestBroker(installation: BrokerInstallation): Promise<TestBroker> {
  const broker = await startTestBroker(installation);
  afterThisTest(() => removeTestBroker(broker.node));
  return broker;
}

/** Starts a node that runs until it is removed, or all are stopped. */
export async function startTestBroker(installation: BrokerInstallation): Promise<TestBroker> {
  return brokerOf(await start(installation));
}

/** Starts a node, which is recorded as soon as there is a process. */
function start(installation: BrokerInstallation): Promise<BrokerNode> {
  const id = randomUUID().slice(0, 8);
  const folder = installation.root === "" ? mkdtempSync(join(tmpdir(), "rabbitmq-delay-test-")) : `/srv/test-${id}`;
  const record = (node: BrokerNode): void => running.put(node.name, node);
  return startNode({ name: `test-${id}`, installation, folder, onLaunch: record });
}

function brokerOf(node: BrokerNode): TestBroker {
  return { node, management: new Management(node.managementUrl) };
}

/**
 * Waits until all quorum queues' servers are registered on disk. The broker does that some time after it has answered the declare. If it is
 * killed before, it starts such a queue anew, without its confirmed messages (seen on 3.10.8 and 4.3.6).
 */
export async function untilRegistered({ node, management }: TestBroker, vhost: string): Promise<void> {
  const name = `${node.name}@localhost`;
  const file = join(node.installation.root + node.folder, "data", name, "quorum", name, "names.dets");
  const servers = (await management.queues(vhost)).map((queue) => `${vhost}_${queue.name}`);
  const isRegistered = (): boolean => {
    const registered = readFileSync(file, "latin1");
    return servers.every((server) => registered.includes(server));
  };
  while (!isRegistered()) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Kills a node and starts it again on its data. */
export async function crashAndRestart(broker: TestBroker): Promise<void> {
  await killNode(broker.node);
  broker.node = await startNode(broker.node);
  running.put(broker.node.name, broker.node);
}

/** Stops a node properly and starts it again, after which all that was declared is on its disk. */
export async function restart(broker: TestBroker): Promise<void> {
  await stopNode(broker.node);
  broker.node = await startNode(broker.node);
  running.put(broker.node.name, broker.node);
}

/** Stops a node and removes its files. */
export async function removeTestBroker(node: BrokerNode): Promise<void> {
  running.remove(node.name);
  await stopNode(node);
  rmSync(node.installation.root + node.folder, { recursive: true, force: true });
}

/** Stops all brokers that processes of the test run have started. */
export function stopAllBrokers(): Promise<void> {
  return running.stopAll();
}

async function discard(node: BrokerNode): Promise<void> {
  await killNode(node);
  rmSync(node.installation.root + node.folder, { recursive: true, force: true });
}
