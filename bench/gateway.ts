import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as amqp from "amqplib";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { declarePlan } from "@rabbitmq-delay/store/testing";
import { delayNetwork, planBinding, planEntities } from "@rabbitmq-delay/topology";
import { newestInstallation } from "../toolchain/dist/brokerInstallations";
import { TestBroker, removeTestBroker, startTestBroker } from "../test/support/brokers";
import { StoreProcess } from "../test/support/storeService";
import { inVhost } from "./declare";
import { percentile, report } from "./statistics";

const REPETITIONS = 3;
const BODY = Buffer.alloc(200, 120);
/** For the rate: so many messages as fast as they are confirmed, all due while and after they are published. */
const MESSAGES = 10_000;
const IN_FLIGHT = 500;
const RATE_DELAY_MS = 2000;
/** For the lateness: so many in a second. */
const CALM_RATE = 200;
const CALM_MESSAGES = 1000;

const network = delayNetwork({ preset: "custom", prefix: "bench", radix: 16, levels: 4, unitMs: 10, parking: false });
const ways = ["network", "gateway", "store"] as const;
type Way = (typeof ways)[number];
type Publish = (index: number, delayMs: number) => Promise<unknown>;

/** End to end through a gateway, against publishing into its network directly, and against a store on SQLite. */
export async function benchGateway(): Promise<void> {
  console.log(`${MESSAGES} messages by x-delay, to the consumer, ${REPETITIONS} repetitions (min / median / max)`);
  const broker = await startTestBroker(await newestInstallation(() => undefined));
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-bench-"));
  const rates = new Map<Way, number[]>(ways.map((way) => [way, []]));
  const lateness = new Map<Way, number[][]>(ways.map((way) => [way, []]));
  try {
    for (let repetition = 0; repetition < REPETITIONS; repetition++) {
      for (const way of ways) {
        await inVhost(broker, async (vhost) => {
          const file = join(folder, `${way}-${repetition}.db`);
          rates.get(way)?.push(await within(broker, vhost, way, file, rateOf));
          lateness.get(way)?.push(await within(broker, vhost, way, file, latenessOf));
        });
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await removeTestBroker(broker.node);
  }
  const name = { network: "into the network directly", gateway: "through the gateway", store: "store on SQLite" };
  for (const way of ways) report(`${name[way]}: rate`, rates.get(way) as number[], "messages/s", 0);
  for (const way of ["gateway", "store"] as const)
    report(`${name[way]}: ratio to the network`, ratios(way, "network"), "times");
  report("gateway: ratio to the store on SQLite", ratios("gateway", "store"), "times");
  for (const way of ways) {
    for (const share of [0.5, 0.99]) {
      const values = (lateness.get(way) as number[][]).map((all) => percentile(all, share));
      report(`${name[way]}: lateness at ${CALM_RATE}/s, p${share * 100}`, values, "ms", 1);
    }
  }

  function ratios(one: Way, other: Way): number[] {
    return (rates.get(one) as number[]).map((rate, index) => rate / (rates.get(other)?.[index] ?? Number.NaN));
  }
}

/** Declares a way, starts its process, and measures. */
async function within<T>(
  broker: TestBroker,
  vhost: string,
  way: Way,
  file: string,
  measure: (channel: amqp.ConfirmChannel, publish: Publish) => Promise<T>,
): Promise<T> {
  const connection = await amqp.connect(`${broker.node.amqpUrl}/${vhost}`);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue("work", { durable: true, arguments: { "x-queue-type": "quorum" } });
  await declarePlan(channel, planEntities(network));
  await declarePlan(channel, { exchanges: [], queues: [], ...planBinding(network, { name: "work" }) });
  const common = ["--declare", "--management", broker.node.managementUrl, "--log-level", "error"];
  let service: StoreProcess | undefined;
  if (way === "gateway") {
    const descriptor = `${file}.json`;
    writeFileSync(descriptor, JSON.stringify({ ...network, vhost }));
    service = await StoreProcess.readyGateway(broker, vhost, ["--network", descriptor, ...common]);
  } else if (way === "store") {
    service = await StoreProcess.ready(broker, vhost, ["--store", `sqlite:${file}`, ...common]);
  }
  const publisher = createDelayPublisher(channel, network);
  const intake = way === "gateway" ? "gateway" : "delayed";
  const byHeader: Publish = (index, delayMs) =>
    new Promise((resolve, reject) => {
      const options = { persistent: true, mandatory: true, messageId: `m${index}`, headers: { "x-delay": delayMs } };
      channel.publish(intake, "work", BODY, options, (error: unknown) =>
        error ? reject(error as Error) : resolve(undefined),
      );
    });
  const direct: Publish = (index, delayMs) => publisher.publish("work", BODY, { delayMs, messageId: `m${index}` });
  try {
    return await measure(channel, way === "network" ? direct : byHeader);
  } finally {
    await connection.close();
    await service?.stop();
  }
}

/** Messages a second, from the first publish to the last arrival, without the delay. */
async function rateOf(channel: amqp.ConfirmChannel, publish: Publish): Promise<number> {
  let arrived = 0;
  let done: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (done = resolve));
  await channel.prefetch(1000);
  await channel.consume("work", (message) => {
    if (message === null) return;
    channel.ack(message);
    if (++arrived === MESSAGES) done();
  });
  const startMs = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < MESSAGES; index = next++) await publish(index, RATE_DELAY_MS);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  await finished;
  return MESSAGES / ((performance.now() - startMs - RATE_DELAY_MS) / 1000);
}

/** How late each message came, in milliseconds, while few are on their way. */
async function latenessOf(channel: amqp.ConfirmChannel, publish: Publish): Promise<number[]> {
  const dueMs = new Map<string, number>();
  const lateMs: number[] = [];
  let done: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (done = resolve));
  await channel.consume("work", (message) => {
    if (message === null) return;
    channel.ack(message);
    lateMs.push(performance.now() - (dueMs.get(message.properties.messageId as string) as number));
    if (lateMs.length === CALM_MESSAGES) done();
  });
  for (let index = 0; index < CALM_MESSAGES; index++) {
    const delayMs = 500 + ((index * 370) % 1000);
    dueMs.set(`m${index}`, performance.now() + delayMs);
    void publish(index, delayMs);
    await new Promise((resolve) => setTimeout(resolve, 1000 / CALM_RATE));
  }
  await finished;
  return lateMs;
}
