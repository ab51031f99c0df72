import * as amqp from "amqplib";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createDelayPublisher, dueHeader } from "@rabbitmq-delay/publish";
import { DelayNetwork, delayNetwork } from "@rabbitmq-delay/topology";
import { networkPlan, renderDefinitions } from "rabbitmq-delay/testing";
import { isEarly } from "../clock";
import { PodCluster, manage, ordinals } from "./cluster";

/** The fate of a number of delayed messages. */
export interface TrafficResult {
  messages: number;
  lost: number;
  duplicates: number;
  early: number;
  /** Delivered to another endpoint than its own. */
  misdelivered: number;
  /** How late first arrivals were, in milliseconds. */
  latenessMs: number[];
}

interface Arrival {
  id: string;
  endpoint: string;
  atMs: number;
  dueMs: number;
}

/** One name is the end of another, so that a binding that is not exact shows. */
const ENDPOINTS = ["Sales", "Europe.Sales", "Billing", "1"];
const CONCURRENT_PUBLISHES = 200;
const HEARTBEAT_SECONDS = 5;

/** Sends delayed messages through a cluster to four endpoints, whose consumers find another node when theirs is gone. */
export class DelayTraffic {
  private readonly sent = new Map<string, string>();
  private readonly arrivals: Arrival[] = [];
  private readonly consumers = new Set<amqp.ChannelModel>();
  private readonly consumed = new Set<string>();
  private isOver = false;

  private constructor(
    private readonly cluster: PodCluster,
    readonly network: DelayNetwork,
  ) {}

  /** Declares the network by importing definitions, and consumes from all endpoints. */
  static async start(cluster: PodCluster): Promise<DelayTraffic> {
    const network = delayNetwork({ preset: "custom", prefix: "faults", radix: 16, levels: 3, unitMs: 100 });
    const definitions = renderDefinitions(networkPlan(network, ENDPOINTS), "/");
    await manage(cluster, 0, "POST", "definitions/%2F", definitions);
    const traffic = new DelayTraffic(cluster, network);
    for (const [index, endpoint] of ENDPOINTS.entries()) void traffic.consume(endpoint, index);
    while (traffic.consumed.size < ENDPOINTS.length) await pause(50);
    return traffic;
  }

  /** Publishes messages, each confirmed, with delays spread evenly over a range. */
  async publish(messages: number, { fromMs, toMs }: { fromMs: number; toMs: number }): Promise<void> {
    const connection = await this.connect(0);
    const channel = await connection.createConfirmChannel();
    const publisher = createDelayPublisher(channel, this.network);
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < messages) {
        const index = next++;
        const [messageId, endpoint] = [randomUUID(), ENDPOINTS[index % ENDPOINTS.length] as string];
        const delayMs = Math.round(fromMs + ((toMs - fromMs) * index) / messages);
        this.sent.set(messageId, endpoint);
        await publisher.publish(endpoint, { index }, { delayMs, messageId });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_PUBLISHES }, worker));
    await connection.close();
  }

  /** Waits until all messages have arrived, or none has come for a while after the last was due. */
  async settle(limitMs: number): Promise<void> {
    const deadline = Date.now() + limitMs;
    const arrived = (): number => new Set(this.arrivals.map(({ id }) => id)).size;
    while (arrived() < this.sent.size && Date.now() < deadline) await pause(500);
    // A second copy would come now.
    await pause(2000);
  }

  /** Returns the results so far, and starts to count anew. */
  take(): TrafficResult {
    const first = new Map<string, Arrival>();
    let [duplicates, early, misdelivered] = [0, 0, 0];
    for (const arrival of this.arrivals) {
      if (first.has(arrival.id)) duplicates++;
      else first.set(arrival.id, arrival);
      if (isEarly(arrival.atMs, arrival.dueMs)) early++;
      if (this.sent.get(arrival.id) !== arrival.endpoint) misdelivered++;
    }
    const result = {
      messages: this.sent.size,
      lost: this.sent.size - first.size,
      duplicates,
      early,
      misdelivered,
      latenessMs: [...first.values()].map(({ atMs, dueMs }) => atMs - dueMs),
    };
    this.sent.clear();
    this.arrivals.length = 0;
    return result;
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all([...this.consumers].map((connection) => connection.close().catch(() => undefined)));
  }

  /** Consumes until told to stop, on one node after another. */
  private async consume(endpoint: string, start: number): Promise<void> {
    for (let attempt = start; !this.isOver; attempt++) {
      try {
        const connection = await this.connect(attempt % ordinals(this.cluster).length);
        this.consumers.add(connection);
        const closed = new Promise<void>((resolve) => connection.once("close", () => resolve()));
        const channel = await connection.createChannel();
        // If only an endpoint's leader is gone for a moment, only the channel closes.
        channel.on("error", () => void connection.close().catch(() => undefined));
        await channel.prefetch(500);
        await channel.consume(endpoint, (message) => {
          if (message === null) return void connection.close().catch(() => undefined);
          this.note(endpoint, message);
          channel.ack(message);
        });
        this.consumed.add(endpoint);
        await closed;
        this.consumers.delete(connection);
      } catch {
        await pause(200);
      }
    }
  }

  private note(endpoint: string, { properties }: amqp.ConsumeMessage): void {
    const dueMs = Date.parse((properties.headers as Record<string, string>)[dueHeader] as string);
    this.arrivals.push({ id: properties.messageId as string, endpoint, atMs: Date.now(), dueMs });
  }

  private async connect(ordinal: number): Promise<amqp.ChannelModel> {
    const { pods, caCertFile, serverName, username, password } = this.cluster;
    const connection = await amqp.connect(
      {
        protocol: "amqps",
        hostname: pods.addressOf(ordinal),
        port: 5671,
        username,
        password,
        heartbeat: HEARTBEAT_SECONDS,
      },
      { ca: [readFileSync(caCertFile)], servername: serverName, timeout: 10_000 },
    );
    connection.on("error", () => undefined);
    return connection;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
