import type { PublishChannel } from "@rabbitmq-delay/publish";
import * as amqp from "amqplib";
import { Connection } from "rabbitmq-client";

/** A client library. */
export type ClientLibrary = "amqplib" | "rabbitmq-client";

/** A channel with confirms that is opened anew when it ends. */
export class LastingChannel {
  /** Undefined while there is none. */
  channel: PublishChannel | undefined;
  private isOver = false;
  private close: () => Promise<unknown> = () => Promise.resolve();
  private readonly running: Promise<void>;
  private opened: () => void = () => undefined;
  /** Resolves when it is open for the first time. */
  readonly ready = new Promise<void>((resolve) => (this.opened = resolve));

  constructor(library: ClientLibrary, url: string) {
    this.running = this.run(library === "amqplib" ? () => this.amqplib(url) : () => this.rabbitmqClient(url));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.close().catch(() => undefined);
    await this.running;
  }

  private async run(openOnce: () => Promise<void>): Promise<void> {
    while (!this.isOver) {
      await openOnce().catch(() => undefined);
      this.channel = undefined;
      if (!this.isOver) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  private async amqplib(url: string): Promise<void> {
    const connection = await amqp.connect(url);
    connection.on("error", () => undefined);
    const ended = new Promise((resolve) => connection.once("close", resolve));
    const channel = await connection.createConfirmChannel();
    channel.on("error", () => undefined);
    const closed = new Promise((resolve) => channel.once("close", resolve));
    this.close = () => connection.close();
    this.channel = channel;
    this.opened();
    await Promise.race([ended, closed]);
    this.channel = undefined;
    await Promise.race([connection.close().catch(() => undefined), ended]);
  }

  private async rabbitmqClient(url: string): Promise<void> {
    const connection = new Connection({ url, retryLow: 100, retryHigh: 200, acquireTimeout: 5000 });
    connection.on("error", () => undefined);
    try {
      const channel = await connection.acquire();
      const closed = new Promise((resolve) => channel.once("close", resolve));
      channel.on("error" as "close", () => undefined);
      this.close = () => channel.close();
      this.channel = channel;
      this.opened();
      await closed;
      this.channel = undefined;
    } finally {
      await connection.close().catch(() => undefined);
    }
  }
}
