import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import * as amqp from "amqplib";
import { createDelayPublisher, dueHeader } from "@rabbitmq-delay/publish";
import { DelayNetwork, Radix, delayNetwork } from "@rabbitmq-delay/topology";
import { localInstallation, newestInstallation } from "../toolchain/dist/brokerInstallations";
import { TestBroker, removeTestBroker, startTestBroker } from "../test/support/brokers";
import { percentile, report } from "./statistics";

const MESSAGES = 20_000;
const REPETITIONS = 3;
const MAXIMUM_MS = 4095 * 10;
const RATE_PER_SECOND = 2000;
const CLOCK_TICKS_PER_SECOND = 100;

interface Result {
  p50: number;
  p99: number;
  cpuMs: number;
}

/** Lateness by radix on an idle node, and the node's CPU time per message, its idle share included. */
export async function benchLateness(): Promise<void> {
  console.log(
    `lateness of ${MESSAGES} messages, 10 ms to 41 s, by radix, ${REPETITIONS} repetitions (min / median / max)`,
  );
  for (const install of [localInstallation, newestInstallation]) {
    const broker = await startTestBroker(await install(() => undefined));
    const version = await broker.management.version();
    const shapes: [Radix, number][] = [
      [2, 12],
      [4, 6],
      [16, 3],
    ];
    const results = new Map<Radix, Result[]>();
    for (let repetition = 0; repetition < REPETITIONS; repetition++) {
      for (const [radix, levels] of shapes) {
        const network = delayNetwork({ preset: "custom", prefix: "bench", radix, levels, unitMs: 10 });
        results.set(radix, [...(results.get(radix) ?? []), await measure(broker, network)]);
      }
    }
    for (const [radix, runs] of results) {
      const binary = results.get(2) as Result[];
      report(
        `${version}, radix ${radix}: p50`,
        runs.map(({ p50 }) => p50),
        "ms",
        0,
      );
      report(
        `${version}, radix ${radix}: p99`,
        runs.map(({ p99 }) => p99),
        "ms",
        0,
      );
      report(
        `${version}, radix ${radix}: broker CPU a message`,
        runs.map(({ cpuMs }) => cpuMs),
        "ms",
      );
      const ratios = runs.map(({ cpuMs }, index) => cpuMs / (binary[index]?.cpuMs ?? Number.NaN));
      if (radix !== 2) report(`${version}, radix ${radix}: ratio of CPU to radix 2`, ratios, "times");
    }
    await removeTestBroker(broker.node);
  }
}

async function measure(broker: TestBroker, network: DelayNetwork): Promise<Result> {
  const vhost = await broker.management.createVhost();
  await broker.management.declare(vhost, network, ["Bench"]);
  const connection = await amqp.connect(`${broker.node.amqpUrl}/${vhost}`);
  const channel = await connection.createConfirmChannel();
  const latenessMs: number[] = [];
  const reader = await connection.createChannel();
  await reader.prefetch(500);
  const all = new Promise<void>((resolve) => {
    void reader.consume("Bench", (message) => {
      if (message === null) return;
      latenessMs.push(Date.now() - new Date(message.properties.headers?.[dueHeader] as string).getTime());
      reader.ack(message);
      if (latenessMs.length === MESSAGES) resolve();
    });
  });
  const publisher = createDelayPublisher(channel, network, { maxUnconfirmed: 200 });
  const before = cpuMsOf(broker.node.processId);
  const start = Date.now();
  const published: Promise<unknown>[] = [];
  for (let index = 0; index < MESSAGES; index++) {
    const delayMs = 10 + ((index * 2_654_435_761) % (MAXIMUM_MS - 10));
    published.push(publisher.publish("Bench", "x", { delayMs }));
    const aheadMs = (index / RATE_PER_SECOND) * 1000 - (Date.now() - start);
    if (aheadMs > 5) await new Promise((resolve) => setTimeout(resolve, aheadMs));
  }
  await Promise.all(published);
  await all;
  const cpuMs = (cpuMsOf(broker.node.processId) - before) / MESSAGES;
  await connection.close();
  await broker.management.deleteVhost(vhost);
  return { p50: percentile(latenessMs, 0.5), p99: percentile(latenessMs, 0.99), cpuMs };
}

/** User and system time of a process and of the children that it started. */
function cpuMsOf(processId: number): number {
  const group = execFileSync("ps", ["-o", "pid=", "--sid", String(processId)])
    .toString()
    .trim()
    .split(/\s+/);
  return group.reduce((sum, pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return sum + ((Number(fields[11]) + Number(fields[12])) * 1000) / CLOCK_TICKS_PER_SECOND;
    } catch {
      return sum;
    }
  }, 0);
}
