import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { localInstallation, newestInstallation } from "../../toolchain/dist/brokerInstallations";
import type { BrokerInstallation } from "../../toolchain/dist/brokerCommand";
import { BrokerNode, killNode, startNode, stopNode } from "../../toolchain/dist/brokerNode";
import { afterThisTest } from "./cleanup";
import { Management } from "./management";

/** A broker of its own for tests, on free loopback ports. */
export interface TestBroker {
  node: BrokerNode;
  management: Management;
}

const quiet = (): void => undefined;

/** The two ends of what is supported: Debian's own RabbitMQ, and the newest. */
const kinds = [
  { label: "RabbitMQ 3.10", version: /^3\.10\./, isNewest: false, install: () => localInstallation(quiet) },
  { label: "RabbitMQ 4.3", version: /^4\.3\./, isNewest: true, install: () => newestInstallation(quiet) },
];

const shared = new Map<string, Promise<TestBroker>>();
const running = new Set<BrokerNode>();

/** The same tests on each broker, which all files share; tests keep apart by vhosts. */
export function onEachBroker(define: (broker: () => TestBroker, kind: { isNewest: boolean }) => void): void {
  for (const { label, version, isNewest, install } of kinds) {
    describe(`on ${label}`, function () {
      let broker: TestBroker;
      before(async function () {
        if (!shared.has(label))
          shared.set(
            label,
            install().then((installation) => startTestBroker(installation)),
          );
        try {
          broker = await (shared.get(label) as Promise<TestBroker>);
        } catch (error) {
          if (process.env.CI === "true") throw error;
          console.log(`      skipped: ${(error as Error).message}`);
          this.skip();
        }
        const found = await broker.management.version();
        if (!version.test(found)) console.log(`      note: this machine's broker is ${found}`);
      });
      define(() => broker, { isNewest });
    });
  }
}

/** A node for one test alone, e.g. to be killed. */
export async function ownTestBroker(installation: BrokerInstallation): Promise<TestBroker> {
  const broker = await startTestBroker(installation);
  afterThisTest(() => removeTestBroker(broker.node));
  return broker;
}

/** A node that runs until it is removed, or all are stopped. */
export async function startTestBroker(installation: BrokerInstallation): Promise<TestBroker> {
  const id = randomUUID().slice(0, 8);
  const folder = installation.root === "" ? mkdtempSync(join(tmpdir(), "rabbitmq-delay-test-")) : `/srv/test-${id}`;
  const node = await startNode({ name: `test-${id}`, installation, folder });
  running.add(node);
  return { node, management: new Management(node.managementUrl) };
}

/**
 * Waits until all quorum queues' servers are registered on disk. The broker does that some time after it has answered the
 * declare; killed before, it starts such a queue anew, without its confirmed messages (seen on 3.10.8 and 4.3.6).
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
  running.delete(broker.node);
  await killNode(broker.node);
  broker.node = await startNode(broker.node);
  running.add(broker.node);
}

/** Stops a node and removes its files. */
export async function removeTestBroker(node: BrokerNode): Promise<void> {
  running.delete(node);
  await stopNode(node);
  rmSync(node.installation.root + node.folder, { recursive: true, force: true });
}

export async function stopAllBrokers(): Promise<void> {
  await Promise.all(
    [...running].map(async (node) => {
      await killNode(node);
      rmSync(node.installation.root + node.folder, { recursive: true, force: true });
    }),
  );
}
