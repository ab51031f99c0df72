import { Client } from "pg";
import type { DelayedMessageStore } from "@rabbitmq-delay/store";
import { startDispatcher } from "../test/support/dispatchers";
import { inVhost } from "./declare";
import { percentile, report } from "./statistics";
import {
  ENDPOINT,
  StoreGround,
  benchMessage,
  countdown,
  emptyStore,
  fill,
  onStoreGround,
  workChannel,
} from "./storeParts";

const RATE_PER_SECOND = 1000;
const SECONDS = 10;
const PENDING = 1_000_000;
const TICK_MS = 10;
const REPETITIONS = 3;
const YEAR_MS = 365 * 24 * 3_600_000;

interface Result {
  p50: number;
  p99: number;
  memoryMiB: number;
}

/** How late messages arrive at 1,000 a second, with none and with a million others pending. */
export async function benchStoreLateness(): Promise<void> {
  console.log(`${RATE_PER_SECOND} messages/s for ${SECONDS} s, ${REPETITIONS} repetitions (min / median / max)`);
  await onStoreGround(async (ground) => {
    for (const [name, address] of [
      ["PostgreSQL", ground.postgres.url],
      ["SQLite", ground.sqlite()],
    ] as const) {
      const store = await emptyStore(address);
      const none = await repeated(ground, store);
      await fillWithMillion(store, name === "PostgreSQL" ? address : undefined);
      const million = await repeated(ground, store);
      for (const [label, results] of [
        ["none pending", none],
        [`${PENDING.toLocaleString("en")} pending`, million],
      ] as const) {
        const of = (field: keyof Result): number[] => results.map((result) => result[field]);
        report(`${name}, ${label}: p50`, of("p50"), "ms", 1);
        report(`${name}, ${label}: p99`, of("p99"), "ms", 1);
        report(`${name}, ${label}: this process`, of("memoryMiB"), "MiB", 0);
      }
      const ratios = million.map(({ p99 }, index) => p99 / (none[index]?.p99 ?? Number.NaN));
      report(`${name}: p99 with a million / with none (aim 3 at most)`, ratios, "times");
      await store.close();
    }
  });
}

async function repeated(ground: StoreGround, store: DelayedMessageStore): Promise<Result[]> {
  const results: Result[] = [];
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    results.push(await inVhost(ground.broker, (vhost) => measure(ground, vhost, store)));
  }
  return results;
}

async function measure({ broker }: StoreGround, vhost: string, store: DelayedMessageStore): Promise<Result> {
  const { channel, close } = await workChannel(broker, vhost);
  const total = RATE_PER_SECOND * SECONDS;
  const dueAtMs: number[] = [];
  const lateMs: number[] = [];
  const { count, finished } = countdown(total);
  await channel.consume("work", (message) => {
    if (message === null) return;
    lateMs.push(Date.now() - (dueAtMs[Number(message.properties.messageId.slice(1))] ?? Number.NaN));
    channel.ack(message);
    count(1);
  });
  const { dispatcher, stop } = startDispatcher(broker, vhost, store);
  const start = Date.now();
  for (let stored = 0; stored < total;) {
    const wanted = Math.min(total, Math.floor(((Date.now() - start) * RATE_PER_SECOND) / 1000) + 1);
    const messages = Array.from({ length: wanted - stored }, (_, index) => {
      const message = benchMessage(stored + index, { delayMs: 1000 + Math.random() * 1000 });
      dueAtMs[stored + index] = message.dueAt.getTime();
      return message;
    });
    stored = wanted;
    if (messages.length > 0) {
      await store.storeAll(messages);
      dispatcher.wake(new Date(Math.min(...messages.map(({ dueAt }) => dueAt.getTime()))));
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await finished;
  const memoryMiB = process.memoryUsage().rss / 1024 / 1024;
  await stop();
  await close();
  return { p50: percentile(lateMs, 0.5), p99: percentile(lateMs, 0.99), memoryMiB };
}

/** By the database itself where it can, which is quicker. */
async function fillWithMillion(store: DelayedMessageStore, postgresUrl: string | undefined): Promise<void> {
  if (postgresUrl === undefined) return fill(store, PENDING, YEAR_MS);
  const client = new Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(`
    INSERT INTO "${ENDPOINT}.delayed" (message_id, due_at, attempt_at, exchange, routing_key, properties, body)
    SELECT 'p' || n, at, at, '', 'work', '{}', convert_to(repeat('x', 200), 'UTF8')
    FROM generate_series(1, ${PENDING}) AS n, LATERAL (SELECT now() + interval '1 year' + n * interval '1 second' AS at) AS due`);
  await client.query(`ANALYZE "${ENDPOINT}.delayed"`);
  await client.end();
}
