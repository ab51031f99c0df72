import { join } from "node:path";
import * as amqp from "amqplib";
import { DelayNetwork, delayNetwork, planEntities } from "@rabbitmq-delay/topology";
import { newestInstallation } from "../toolchain/dist/brokerInstallations";
import { root } from "../toolchain/dist/paths";
import { TestBroker, removeTestBroker, startTestBroker } from "../test/support/brokers";
import { declareOverAmqp } from "../test/support/declare";
import { TestStack } from "../test/support/stack";
import { report } from "./statistics";

const REPETITIONS = 5;
const options = { preset: "nservicebus" } as const;

/** `pulumi up` of the component, of a flat program with the same resources, and the same over one AMQP channel. */
export async function benchDeclare(): Promise<void> {
  console.log(`a 28-level network on an empty broker, ${REPETITIONS} repetitions (min / median / max)`);
  const broker = await startTestBroker(await newestInstallation(() => undefined));
  const seconds: Record<"component" | "flat" | "amqp", number[]> = { component: [], flat: [], amqp: [] };
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    // Which one goes first changes, so that neither always finds the other's warm caches.
    const programs = repetition % 2 === 0 ? (["component", "flat"] as const) : (["flat", "component"] as const);
    for (const program of programs) seconds[program].push(await upSeconds(broker, program));
    seconds.amqp.push(await inVhost(broker, (vhost) => amqpSeconds(broker, vhost, delayNetwork(options))));
  }
  report("pulumi up, component", seconds.component, "s");
  report("pulumi up, flat program", seconds.flat, "s");
  report("one AMQP channel (lower bound)", seconds.amqp, "s");
  report("ratio component / flat (aim at most 1.1)", ratio(seconds.component, seconds.flat), "times");
  report("ratio component / one AMQP channel", ratio(seconds.component, seconds.amqp), "times", 1);
  report("ratio flat / one AMQP channel", ratio(seconds.flat, seconds.amqp), "times", 1);
  await removeTestBroker(broker.node);
}

function ratio(ones: number[], others: number[]): number[] {
  return ones.map((one, index) => one / (others[index] ?? Number.NaN));
}

async function upSeconds(broker: TestBroker, program: string): Promise<number> {
  return inVhost(broker, async (vhost) => {
    const stack = await TestStack.create(broker, vhost, join(root, "bench", "programs", program));
    stack.startsPrograms = true;
    stack.configure({ network: options });
    const seconds = await secondsOf(() => stack.up());
    stack.remove();
    return seconds;
  });
}

async function amqpSeconds(broker: TestBroker, vhost: string, network: DelayNetwork): Promise<number> {
  const connection = await amqp.connect(`${broker.node.amqpUrl}/${vhost}`);
  const channel = await connection.createChannel();
  const seconds = await secondsOf(() => declareOverAmqp(channel, planEntities(network)));
  await connection.close();
  return seconds;
}

/** Runs in a vhost of its own, so that nothing is there already. */
export async function inVhost<T>(broker: TestBroker, body: (vhost: string) => Promise<T>): Promise<T> {
  const vhost = await broker.management.createVhost();
  try {
    return await body(vhost);
  } finally {
    await broker.management.deleteVhost(vhost);
  }
}

/** How long something took, in seconds. */
export async function secondsOf(body: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await body();
  return Number(process.hrtime.bigint() - start) / 1e9;
}
