import type { PublishChannel } from "@rabbitmq-delay/publish";
import { Connection } from "rabbitmq-client";
import type { TestBroker } from "./brokers";
import { amqplibFor } from "./connect";

/** A channel with confirms, of one of the client libraries. */
export interface Client {
  channel: PublishChannel;
  close: () => Promise<void>;
}

/** The client libraries that the helper works with, by name; each opens a channel at a URL of a broker. */
export const clients: [string, (broker: TestBroker, url: string) => Promise<Client>][] = [
  [
    "amqplib",
    async (broker, url) => {
      const connection = await amqplibFor(broker).connect(url);
      connection.on("error", () => undefined);
      const channel = await connection.createConfirmChannel();
      channel.on("error", () => undefined);
      return { channel, close: () => connection.close() };
    },
  ],
  [
    "rabbitmq-client",
    async (_, url) => {
      const connection = new Connection(url);
      connection.on("error", () => undefined);
      const channel = await connection.acquire();
      const close = async (): Promise<void> => {
        if (channel.active) await channel.close();
        await connection.close();
      };
      return { channel, close };
    },
  ],
];
