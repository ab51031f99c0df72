import * as amqp from "amqplib";
import { createDelayPublisher, holdFor } from "@rabbitmq-delay/publish";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { newestInstallation } from "../toolchain/dist/brokerInstallations";
import { TestBroker, removeTestBroker, startTestBroker } from "../test/support/brokers";
import { inVhost } from "./declare";
import { report } from "./statistics";

const MESSAGES = 5000;
const REPETITIONS = 3;
const IN_FLIGHT = 50;
/** Longer than the bench, so that nothing is delivered while publishing is measured. */
const HOUR_MS = 3_600_000;
const network = delayNetwork({ preset: "custom", prefix: "bench", radix: 16, levels: 5 });

interface Result {
  /** Milliseconds a message. */
  costMs: number;
  /** Bytes of a queue on the broker that holds its share of the messages. */
  queueBytes: number;
  /** Bytes of all queues. */
  allBytes: number;
}

/** Publishing through hold queues on demand, by the number of distinct ones, against a delay network. */
export async function benchHolds(): Promise<void> {
  console.log(`${MESSAGES} delayed messages, ${IN_FLIGHT} at once, ${REPETITIONS} repetitions (min / median / max)`);
  const broker = await startTestBroker(await newestInstallation(() => undefined));
  const peer: Result[] = [];
  const holds = new Map<number, Result[]>([1, 100, 5000].map((distinct) => [distinct, []]));
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    peer.push(await inVhost(broker, (vhost) => throughNetwork(broker, vhost)));
    for (const [distinct, results] of holds) {
      results.push(await inVhost(broker, (vhost) => throughHolds(broker, vhost, distinct)));
    }
  }
  show("a delay network, radix 16, 5 levels", peer);
  for (const [distinct, results] of holds) {
    show(`holdFor, ${distinct} distinct`, results);
    const ratios = results.map(({ costMs }, index) => costMs / (peer[index]?.costMs ?? Number.NaN));
    report(`holdFor, ${distinct} distinct: ratio of cost to the network`, ratios, "times");
  }
  await removeTestBroker(broker.node);
}

function show(what: string, results: Result[]): void {
  const of = (field: keyof Result, unit = 1): number[] => results.map((result) => result[field] / unit);
  report(`${what}: a publish`, of("costMs"), "ms");
  report(`${what}: broker memory a queue`, of("queueBytes", 1024), "KiB", 0);
  report(`${what}: broker memory of all queues`, of("allBytes", 1024 * 1024), "MiB", 1);
}

async function throughNetwork(broker: TestBroker, vhost: string): Promise<Result> {
  await broker.management.declare(vhost, network, ["Bench"]);
  return measure(broker, vhost, network.entryExchanges.length, (channel) => {
    const publisher = createDelayPublisher(channel, network);
    return (index) => publisher.publish("Bench", "x".repeat(200), { delayMs: HOUR_MS + index * 1000 });
  });
}

function throughHolds(broker: TestBroker, vhost: string, distinct: number): Promise<Result> {
  return measure(broker, vhost, distinct, (channel) => (index) => {
    const hold = { delayMs: HOUR_MS + (index % distinct) * 1000, exchange: "amq.topic", routingKey: "Bench" };
    return holdFor(channel, hold, { body: "x".repeat(200) }, { maxQueues: 1_000_000 });
  });
}

async function measure(
  broker: TestBroker,
  vhost: string,
  leastQueues: number,
  publisherOn: (channel: amqp.ConfirmChannel) => (index: number) => Promise<unknown>,
): Promise<Result> {
  const connection = await amqp.connect(`${broker.node.amqpUrl}/${vhost}`);
  const publish = publisherOn(await connection.createConfirmChannel());
  const start = process.hrtime.bigint();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < MESSAGES) await publish(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  const costMs = Number(process.hrtime.bigint() - start) / 1e6 / MESSAGES;
  const memory = await memoryOf(broker, vhost, leastQueues);
  await connection.close();
  const allBytes = memory.reduce((sum, bytes) => sum + bytes, 0);
  return { costMs, queueBytes: allBytes / memory.length, allBytes };
}

/** The queues' memory, once the broker's statistics know all of them and their messages. */
async function memoryOf(broker: TestBroker, vhost: string, leastQueues: number): Promise<number[]> {
  for (;;) {
    const path = `queues/${vhost}?columns=memory,messages&disable_stats=false&enable_queue_totals=false`;
    const queues = await broker.management.get<{ memory?: number; messages?: number }[]>(path);
    const known = queues.filter(({ memory }) => memory !== undefined);
    const messages = queues.reduce((sum, queue) => sum + (queue.messages ?? 0), 0);
    if (known.length === queues.length && known.length >= leastQueues && messages >= MESSAGES) {
      return known.map(({ memory }) => memory as number);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
