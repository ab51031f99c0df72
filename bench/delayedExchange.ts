import * as amqp from "amqplib";
import { declarePlan } from "@rabbitmq-delay/store/testing";
import { delayedExchange, planDelayedExchange } from "@rabbitmq-delay/topology";
import { newestInstallation } from "../toolchain/dist/brokerInstallations";
import { TestBroker, removeTestBroker, startTestBroker } from "../test/support/brokers";
import { inVhost } from "./declare";
import { report } from "./statistics";

const MESSAGES = 20_000;
const REPETITIONS = 5;
const IN_FLIGHT = 500;
/** Longer than the bench, so that nothing is delivered while publishing is measured. */
const HOUR_MS = 3_600_000;

/** Publishing with `x-delay` through an exchange with few and with many delays, against a plain publish to a quorum queue with a TTL. */
export async function benchDelayedExchange(): Promise<void> {
  console.log(
    `${MESSAGES} messages with confirms, ${IN_FLIGHT} in flight, ${REPETITIONS} repetitions (min / median / max)`,
  );
  const broker = await startTestBroker(await newestInstallation(() => undefined));
  const direct: number[] = [];
  const through = new Map<number, number[]>([5, 300].map((delays) => [delays, []]));
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    direct.push(await inVhost(broker, (vhost) => publishRate(broker, vhost, 1, true)));
    for (const [delays, rates] of through)
      rates.push(await inVhost(broker, (vhost) => publishRate(broker, vhost, delays, false)));
  }
  report("to the queue with a TTL itself", direct, "messages/s", 0);
  for (const [delays, rates] of through) {
    report(`by x-delay, of ${delays} delays`, rates, "messages/s", 0);
    const ratios = rates.map((rate, index) => rate / (direct[index] ?? Number.NaN));
    report(`by x-delay, of ${delays} delays: ratio to the queue itself`, ratios, "times");
  }
  await removeTestBroker(broker.node);
}

/** Messages a second to the queue of one delay: directly, or through the exchange, whose last binding it is. */
async function publishRate(broker: TestBroker, vhost: string, delays: number, isDirect: boolean): Promise<number> {
  const delaysMs = Array.from({ length: delays }, (_, index) => HOUR_MS + index);
  const longestMs = Math.max(...delaysMs);
  const connection = await amqp.connect(`${broker.node.amqpUrl}/${vhost}`);
  const channel = await connection.createConfirmChannel();
  await declarePlan(channel, planDelayedExchange(delayedExchange({ exchange: "bench", delays: delaysMs })));
  const [exchange, key] = isDirect ? ["", `bench.delay-${longestMs}`] : ["bench", "orders"];
  const options = { persistent: true, mandatory: true, headers: isDirect ? {} : { "x-delay": longestMs } };
  const body = Buffer.alloc(200);
  const publish = (): Promise<void> =>
    new Promise((resolve, reject) =>
      channel.publish(exchange as string, key as string, body, options, (error: unknown) =>
        error ? reject(error as Error) : resolve(),
      ),
    );
  const start = process.hrtime.bigint();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next++ < MESSAGES) await publish();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const queue = await channel.checkQueue(`bench.delay-${longestMs}`);
  if (queue.messageCount !== MESSAGES)
    throw new Error(`${queue.messageCount} of ${MESSAGES} messages are in the queue`);
  await connection.close();
  return MESSAGES / seconds;
}
