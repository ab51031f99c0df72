import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as amqp from "amqplib";
import { DelayedMessageStore, NewDelayedMessage, delayedMessage, openStore } from "@rabbitmq-delay/store";
import { newestInstallation } from "../toolchain/dist/brokerInstallations";
import { PostgresServer, postgresInstallation, removePostgres, startPostgres } from "../toolchain/dist/postgresServer";
import { TestBroker, removeTestBroker, startTestBroker } from "../test/support/brokers";

const BODY_BYTES = 200;
const STORE_CHUNK = 1000;
export const ENDPOINT = "bench";

/** What the store's benches stand on: the newest broker, a PostgreSQL with its defaults, a folder for SQLite. */
export interface StoreGround {
  broker: TestBroker;
  postgres: PostgresServer;
  /** A new file for SQLite. */
  sqlite: () => string;
}

/** Sets up, does something, and takes all of it away. */
export async function onStoreGround(body: (ground: StoreGround) => Promise<void>): Promise<void> {
  const broker = await startTestBroker(await newestInstallation(() => undefined));
  const postgres = await startPostgres(await postgresInstallation(() => undefined));
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-bench-"));
  let files = 0;
  try {
    await body({ broker, postgres, sqlite: () => `sqlite:${join(folder, `${++files}.db`)}` });
  } finally {
    await removePostgres(postgres);
    await removeTestBroker(broker.node);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A store of its own, that is ready and empty. */
export async function emptyStore(address: string): Promise<DelayedMessageStore> {
  const store = openStore(address);
  await store.setUpInfrastructure(ENDPOINT);
  await store.initialize(ENDPOINT);
  if ((await store.count()).pending > 0) await store.cancelAll({ after: new Date(0) });
  return store;
}

export function benchMessage(index: number, due: { delayMs: number } | { at: Date }): NewDelayedMessage {
  return delayedMessage({ routingKey: "work", body: Buffer.alloc(BODY_BYTES, 120), messageId: `m${index}`, ...due });
}

export async function fill(store: DelayedMessageStore, count: number, delayMs: number): Promise<void> {
  for (let start = 0; start < count; start += STORE_CHUNK) {
    const size = Math.min(STORE_CHUNK, count - start);
    await store.storeAll(Array.from({ length: size }, (_, index) => benchMessage(start + index, { delayMs })));
  }
}

/** A channel with the quorum queue `work`, on a connection of its own. */
export async function workChannel(
  broker: TestBroker,
  vhost: string,
): Promise<{ channel: amqp.ConfirmChannel; close: () => Promise<void> }> {
  const connection = await amqp.connect(`${broker.node.amqpUrl}/${vhost}`);
  connection.on("error", () => undefined);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue("work", { durable: true, arguments: { "x-queue-type": "quorum" } });
  return { channel, close: () => connection.close() };
}

/** Publishes as the dispatcher does, without it: persistent, mandatory, to the confirm. */
export function publishConfirmed(channel: amqp.ConfirmChannel, body: Buffer, messageId: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { messageId, persistent: true, mandatory: true };
    channel.publish("", "work", body, options, (error: unknown) => (error ? reject(error as Error) : resolve()));
  });
}

/** Resolves when so many were counted. */
export function countdown(from: number): { count: (by: number) => void; finished: Promise<void> } {
  let left = from;
  let done: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (done = resolve));
  const count = (by: number): void => {
    left -= by;
    if (left <= 0) done();
  };
  return { count, finished };
}
