import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Disk } from "./disk";
import { filesPrefix } from "./filesPrefix";
import { ManagementApi } from "./managementApi";
import type { BrokerLine } from "./plan/types";
import { BrokerNode, killNode, localInstallation, newestInstallation, rabbitmqctl, startNode, stopNode } from "./rig";

const REGISTRATION_TIMEOUT_MS = 30_000;

/** The node that rounds run on, one after another, each with vhosts of its own. */
export class Broker {
  readonly password = `broker-secret-${randomUUID()}`;
  /** False while a fault has it. */
  isUp = true;

  private constructor(
    readonly line: BrokerLine,
    private node: BrokerNode,
    private readonly disk: Disk | undefined,
    /** Why the power can't be cut, where it can't. */
    readonly noPowerCut: string | undefined,
  ) {}

  /** @throws Error where this broker can't be had */
  static async start(line: BrokerLine): Promise<Broker> {
    const installation = await (line === "3.10" ? localInstallation : newestInstallation)(() => undefined);
    const id = randomUUID().slice(0, 8);
    const folder = installation.root === "" ? mkdtempSync(join(tmpdir(), filesPrefix)) : `/srv/gauntlet-${id}`;
    const { disk, reason } = diskAt(installation.root + folder);
    try {
      const node = await startNode({ name: `gauntlet-${id}`, installation, folder });
      const broker = new Broker(line, node, disk, reason);
      await broker.addUser();
      return broker;
    } catch (error) {
      disk?.remove();
      rmSync(installation.root + folder, { recursive: true, force: true });
      throw error;
    }
  }

  get api(): ManagementApi {
    return new ManagementApi(this.node.managementUrl, `gauntlet:${this.password}`);
  }

  /** The management API's address, without a login. */
  get managementUrl(): string {
    return this.node.managementUrl;
  }

  get port(): number {
    return this.node.ports.amqp;
  }

  /** With the login in it, which is a secret. */
  amqpUrl(vhost: string): string {
    return `amqp://gauntlet:${this.password}@127.0.0.1:${this.port}/${encodeURIComponent(vhost)}`;
  }

  async version(): Promise<string> {
    return (await this.api.call<{ rabbitmq_version: string }>("GET", "overview")).rabbitmq_version;
  }

  control(...given: string[]): Promise<string> {
    return rabbitmqctl(this.node, ...given);
  }

  async addVhost(vhost: string): Promise<void> {
    await this.api.call("PUT", `vhosts/${vhost}`);
    await this.api.call("PUT", `permissions/${vhost}/gauntlet`, { configure: ".*", write: ".*", read: ".*" });
  }

  removeVhost(vhost: string): Promise<void> {
    return this.api.call("DELETE", `vhosts/${vhost}`);
  }

  /** Kills it, and starts it anew on what it wrote. */
  killed(): Promise<void> {
    return this.anew(() => killNode(this.node));
  }

  /** Stops it in order, and starts it anew. */
  stopped(): Promise<void> {
    return this.anew(() => stopNode(this.node));
  }

  /** Cuts its power, and starts it anew on what it had synced. */
  cut(): Promise<void> {
    return this.anew(async () => {
      await killNode(this.node);
      this.disk?.cut();
    });
  }

  /**
   * Waits until quorum queues are registered on disk, and writes what is held back. The broker registers them some time after it has
   * answered the declare; killed before, it starts such a queue anew without its messages, which is the broker's own fault.
   */
  async settle(vhosts: string[]): Promise<void> {
    const name = `${this.node.name}@localhost`;
    const outside = this.node.installation.root + this.node.folder;
    const file = join(outside, "data", name, "quorum", name, "names.dets");
    const deadline = Date.now() + REGISTRATION_TIMEOUT_MS;
    for (const vhost of vhosts) {
      const queues = await this.api.call<{ name: string; type?: string }[]>("GET", `queues/${vhost}?columns=name,type`);
      // The file's encoding of other letters differs between versions; one queue's neighbours stand for it.
      const plain = queues.filter(({ type, name: queue }) => type === "quorum" && /^[ -~]{1,150}$/.test(queue));
      const servers = plain.map((queue) => `${vhost}_${queue.name}`);
      while (servers.length > 0) {
        const registered = existsSync(file) ? readFileSync(file, "latin1") : "";
        if (servers.every((server) => registered.includes(server))) break;
        if (Date.now() > deadline) throw new Error(`queues of ${vhost} were not registered in time`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    this.disk?.sync();
  }

  async remove(): Promise<void> {
    await killNode(this.node);
    this.disk?.remove();
    rmSync(this.node.installation.root + this.node.folder, { recursive: true, force: true });
  }

  private async anew(end: () => Promise<void>): Promise<void> {
    this.isUp = false;
    await end();
    this.node = await startNode(this.node);
    this.isUp = true;
  }

  private async addUser(): Promise<void> {
    const guest = new ManagementApi(this.node.managementUrl, "guest:guest");
    await guest.call("PUT", "users/gauntlet", { password: this.password, tags: "administrator" });
  }
}

function diskAt(folder: string): { disk?: Disk; reason?: string } {
  if (process.getuid?.() !== 0) return { reason: "only root may mount a disk for it" };
  try {
    return { disk: Disk.make(`${folder}.ext4`, folder) };
  } catch (error) {
    return { reason: `no disk for it can be made here (${(error as Error).message.trim().split("\n")[0]})` };
  }
}
