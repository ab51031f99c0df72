import { defaultLimits } from "@rabbitmq-delay/store";
import { BatchPublisher, BrokerConnection, Intake, SteadyClock, declarePlan } from "@rabbitmq-delay/store/testing";
import { delayedStore, planDelayedStore } from "@rabbitmq-delay/topology";
import { inVhost } from "./declare";
import { report } from "./statistics";
import { StoreGround, countdown, emptyStore, onStoreGround, workChannel } from "./storeParts";

const MESSAGES = 20_000;
const REPETITIONS = 5;
const PREFETCH = 1000;
const HOUR_MS = 3_600_000;
const descriptor = delayedStore();

/** Messages taken in and committed a second, against a consumer that only acknowledges. */
export async function benchStoreIntake(): Promise<void> {
  console.log(
    `${MESSAGES} messages of 200 bytes, prefetch ${PREFETCH}, ${REPETITIONS} repetitions (min / median / max)`,
  );
  await onStoreGround(async (ground) => {
    const rates = { PostgreSQL: [] as number[], SQLite: [] as number[], bare: [] as number[] };
    const nameless = { PostgreSQL: [] as number[], SQLite: [] as number[] };
    for (let repetition = 0; repetition < REPETITIONS; repetition++) {
      rates.bare.push(await inVhost(ground.broker, (vhost) => bare(ground, vhost)));
      rates.PostgreSQL.push(await inVhost(ground.broker, (vhost) => intake(ground, vhost, ground.postgres.url)));
      rates.SQLite.push(await inVhost(ground.broker, (vhost) => intake(ground, vhost, ground.sqlite())));
      for (const [name, address] of [
        ["PostgreSQL", ground.postgres.url],
        ["SQLite", ground.sqlite()],
      ] as const) {
        nameless[name].push(await inVhost(ground.broker, (vhost) => intake(ground, vhost, address, false)));
      }
    }
    report("a bare consumer that acknowledges each", rates.bare, "messages/s", 0);
    for (const name of ["PostgreSQL", "SQLite"] as const) {
      report(`intake, ${name}`, rates[name], "messages/s", 0);
      const ratios = rates[name].map((rate, index) => rate / (rates.bare[index] ?? Number.NaN));
      report(`intake, ${name} / bare`, ratios, "times");
      report(`intake, ${name}, messages without an id`, nameless[name], "messages/s", 0);
    }
  });
}

async function filled({ broker }: StoreGround, vhost: string, isNamed = true): ReturnType<typeof workChannel> {
  const { channel, close } = await workChannel(broker, vhost);
  await declarePlan(channel, planDelayedStore(descriptor));
  for (let index = 0; index < MESSAGES; index++) {
    const named = isNamed ? { messageId: `m${index}` } : {};
    const options = { persistent: true, ...named, headers: { "x-delay": HOUR_MS } };
    channel.publish(descriptor.name, "work", Buffer.alloc(200, 120), options);
  }
  await channel.waitForConfirms();
  return { channel, close };
}

async function bare(ground: StoreGround, vhost: string): Promise<number> {
  const { channel, close } = await filled(ground, vhost);
  await channel.prefetch(PREFETCH);
  let left = MESSAGES;
  const start = performance.now();
  await new Promise<void>((resolve) => {
    void channel.consume(descriptor.intakeQueue, (message) => {
      if (message === null) return;
      channel.ack(message);
      if (--left === 0) resolve();
    });
  });
  const seconds = (performance.now() - start) / 1000;
  await close();
  return MESSAGES / seconds;
}

async function intake(ground: StoreGround, vhost: string, address: string, isNamed = true): Promise<number> {
  const { close } = await filled(ground, vhost, isNamed);
  const store = await emptyStore(address);
  const connection = new BrokerConnection(`${ground.broker.node.amqpUrl}/${vhost}`, "bench");
  const { count, finished } = countdown(MESSAGES);
  const subject = new Intake({
    connection,
    store,
    publisher: new BatchPublisher(connection, 30_000),
    clock: new SteadyClock(),
    descriptor,
    limits: defaultLimits,
    settings: {
      prefetch: PREFETCH,
      bodyMemoryBytes: Number.POSITIVE_INFINITY,
      batchSize: 500,
      timeToTriggerStoreBreakerMs: 30_000,
      timeToTriggerConsumeBreakerMs: 30_000,
    },
    events: { onStored: ({ length }) => count(length) },
  });
  const ending = new AbortController();
  const start = performance.now();
  const running = subject.run(ending.signal);
  await finished;
  const seconds = (performance.now() - start) / 1000;
  ending.abort();
  await running;
  await connection.close();
  await store.close();
  await close();
  return MESSAGES / seconds;
}
