import { randomUUID } from "node:crypto";
import { fetch } from "undici";
import { networkPlan, renderDefinitions } from "rabbitmq-delay/testing";
import type { DelayNetwork } from "@rabbitmq-delay/topology";
import { afterThisTest } from "./cleanup";
import { ifThisTestTimesOut } from "./timeouts";

/** Of the queues of a vhost, how many a test whose time is up tells of. */
const MOST_LINES = 30;

/** A queue as the management API shows it. */
export interface FoundQueue {
  name: string;
  arguments: Record<string, unknown>;
  messages: number;
  messages_ready: number;
  /** Messages past their TTL that the next queue has not accepted yet; quorum queues that dead-letter at least once count them. */
  messages_dlx?: number;
  consumers?: number;
}

/** The management API of a test broker. */
export class Management {
  constructor(readonly url: string) {}

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const authorization = `Basic ${Buffer.from("guest:guest").toString("base64")}`;
    const response = await fetch(`${this.url}/api/${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: HTTP ${response.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  get<T>(path: string): Promise<T> {
    return this.call("GET", path);
  }

  async version(): Promise<string> {
    return (await this.get<{ rabbitmq_version: string }>("overview")).rabbitmq_version;
  }

  /** Creates a vhost for a test, which is deleted after it. */
  async createVhost(): Promise<string> {
    const vhost = `test-${randomUUID()}`;
    await this.putVhost(vhost);
    ifThisTestTimesOut(() => this.describe(vhost));
    afterThisTest(() => this.deleteVhost(vhost));
    return vhost;
  }

  /** Creates a vhost that `guest` may use. */
  async putVhost(vhost: string): Promise<void> {
    await this.call("PUT", `vhosts/${vhost}`);
    await this.call("PUT", `permissions/${vhost}/guest`, { configure: ".*", write: ".*", read: ".*" });
  }

  /** The node's alarms, the states of its connections, and its queues; the management API is up to 5 s late. */
  private async describe(vhost: string): Promise<string> {
    const [node] = await this.get<Record<string, unknown>[]>("nodes");
    const connections = await this.get<{ vhost: string; state: string }[]>("connections");
    const states = connections.filter((connection) => connection.vhost === vhost).map(({ state }) => state);
    type Counts = { name: string; state?: string; messages_ready?: number; messages_unacknowledged?: number };
    const queues = await this.get<Counts[]>(`queues/${vhost}`);
    const held = queues.map(
      ({ name, state, messages_ready: ready, messages_unacknowledged: unacknowledged }) =>
        `${name}: ${ready} ready, ${unacknowledged} delivered and not acknowledged, ${state}`,
    );
    return [
      `alarms: memory ${node?.mem_alarm}, disk ${node?.disk_free_alarm} (${node?.disk_free} bytes free)`,
      `connections: ${states.join(", ")}`,
      ...held.slice(0, MOST_LINES),
    ].join("\n");
  }

  deleteVhost(vhost: string): Promise<void> {
    return this.call("DELETE", `vhosts/${vhost}`);
  }

  /** Declares a network with endpoints' queues by importing definitions, which is faster than the engine. */
  async declare(vhost: string, network: DelayNetwork, endpoints: string[]): Promise<void> {
    await this.call("POST", `definitions/${vhost}`, renderDefinitions(networkPlan(network, endpoints), vhost));
  }

  /**
   * Until the provider can read each queue of a vhost. While a consumer isn't counted yet, or not as gone, its channel is an empty list
   * in the management API, at which the provider's reading ends.
   */
  async untilReadable(vhost: string): Promise<void> {
    type Consumers = { consumer_details?: { channel_details: object }[] };
    const isReadable = async (queue: string): Promise<boolean> => {
      const { consumer_details: consumers = [] } = await this.get<Consumers>(
        `queues/${vhost}/${encodeURIComponent(queue)}`,
      );
      return consumers.every(({ channel_details: details }) => !Array.isArray(details));
    };
    for (const { name } of await this.get<{ name: string }[]>(`queues/${vhost}?columns=name`))
      while (!(await isReadable(name))) await new Promise((resolve) => setTimeout(resolve, 200));
  }

  /** Until the management API shows no consumer any more: of one that has ended, its channel is an empty list for a while. */
  async untilUnconsumed(vhost: string, queue: string): Promise<void> {
    const read = (): Promise<{ consumer_details: object[] }> =>
      this.get(`queues/${vhost}/${encodeURIComponent(queue)}`);
    while ((await read()).consumer_details.length > 0) await new Promise((resolve) => setTimeout(resolve, 200));
  }

  /** Until the management API counts at least so many in a vhost, and each queue for the first time, which takes some seconds. */
  async untilCounted(vhost: string, messages: number, consumers = 0): Promise<void> {
    for (;;) {
      const queues = await this.get<Partial<FoundQueue>[]>(`queues/${vhost}?columns=messages,consumers`);
      const sum = (field: "messages" | "consumers"): number =>
        queues.reduce((total, queue) => total + (queue[field] ?? 0), 0);
      // Two processes of the broker collect them, which may be seconds apart; a review takes no count alone.
      const isWhole = queues.every((queue) => queue.messages !== undefined && queue.consumers !== undefined);
      if (isWhole && sum("messages") >= messages && sum("consumers") >= consumers) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  queues(vhost: string): Promise<FoundQueue[]> {
    return this.get(`queues/${vhost}?columns=name,arguments,messages,messages_ready,messages_dlx,consumers`);
  }
}
