import * as amqp from "amqplib";
import { RetryPolicy, consumeWithRetries, throughDeclared } from "@rabbitmq-delay/publish";
import { planRetry, planReturnBinding, retryIntervals } from "@rabbitmq-delay/topology";
import { localInstallation, newestInstallation } from "../toolchain/dist/brokerInstallations";
import { TestBroker, removeTestBroker, startTestBroker } from "../test/support/brokers";
import { declareOverAmqp } from "../test/support/declare";
import { inVhost } from "./declare";
import { report } from "./statistics";

const MESSAGES = 5000;
const REPETITIONS = 5;
const PREFETCH = 100;
const intervals = retryIntervals({ intervals: [10] });
const exchange = "mt-delay-10";

/** Calls back for each message that succeeded; resolves when it consumes, with how to end that. */
type Consume = (channel: amqp.ConfirmChannel, onSuccess: () => void) => Promise<{ stop: () => Promise<unknown> }>;

/** A handler that fails once for each message, by this package and by hand: publish a copy, wait for its confirm, acknowledge. */
export async function benchRetries(): Promise<void> {
  console.log(`${MESSAGES} messages, each redelivered once, ${REPETITIONS} repetitions (min / median / max)`);
  for (const install of [localInstallation, newestInstallation]) {
    const broker = await startTestBroker(await install(() => undefined));
    const version = await broker.management.version();
    const rates = { ours: [] as number[], bare: [] as number[] };
    for (let repetition = 0; repetition < REPETITIONS; repetition++) {
      // Which one goes first changes, so that neither always finds a broker that is warm.
      const order = repetition % 2 === 0 ? (["ours", "bare"] as const) : (["bare", "ours"] as const);
      for (const kind of order) rates[kind].push(await rateOf(broker, kind === "ours" ? ours : bare));
    }
    report(`${version}: consumeWithRetries`, rates.ours, "messages/s", 0);
    report(`${version}: bare amqplib`, rates.bare, "messages/s", 0);
    const ratios = rates.ours.map((rate, index) => rate / (rates.bare[index] ?? Number.NaN));
    report(`${version}: ratio (aim at least 0.8)`, ratios, "times");
    await removeTestBroker(broker.node);
  }
}

const ours: Consume = (channel, onSuccess) =>
  consumeWithRetries(
    channel,
    "work",
    ({ redeliveries }) => {
      if (redeliveries === 0) throw new Error("not yet");
      onSuccess();
    },
    { policy: RetryPolicy.interval(1, 10), mechanism: throughDeclared(intervals), prefetch: PREFETCH },
  );

const bare: Consume = async (channel, onSuccess) => {
  await channel.prefetch(PREFETCH);
  const { consumerTag } = await channel.consume("work", (message) => {
    if (message === null) return;
    const { headers, ...properties } = message.properties;
    if (headers?.tries !== undefined) {
      channel.ack(message);
      return onSuccess();
    }
    const copy = { ...properties, headers: { ...headers, tries: 1 }, persistent: true, mandatory: true };
    channel.publish(exchange, "work", message.content, copy as amqp.Options.Publish, () => channel.ack(message));
  });
  return { stop: () => channel.cancel(consumerTag) };
};

/** Messages a second, from the first delivery to the last success. */
async function rateOf(broker: TestBroker, consume: Consume): Promise<number> {
  return inVhost(broker, async (vhost) => {
    const connection = await amqp.connect(`${broker.node.amqpUrl}/${vhost}`);
    const channel = await connection.createConfirmChannel();
    for (const queue of ["work", "work_error"])
      await channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } });
    const { exchanges, queues, bindings } = planRetry(intervals);
    await declareOverAmqp(channel, {
      exchanges,
      queues,
      bindings: [...bindings, planReturnBinding(intervals, "work")],
    });
    for (let index = 0; index < MESSAGES; index++) {
      channel.sendToQueue("work", Buffer.alloc(200), { persistent: true, headers: { tenant: "a" }, type: "invoice" });
    }
    await channel.waitForConfirms();
    const consuming = await connection.createConfirmChannel();
    let left = MESSAGES;
    const start = process.hrtime.bigint();
    let end: () => void = () => undefined;
    const done = new Promise<void>((resolve) => (end = resolve));
    const consumer = await consume(consuming, () => {
      if (--left === 0) end();
    });
    await done;
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    await consumer.stop();
    await connection.close();
    return MESSAGES / seconds;
  });
}
