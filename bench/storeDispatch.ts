import { Logger, makeWorkerUtils, run } from "graphile-worker";
import PgBoss from "pg-boss";
import { startDispatcher } from "../test/support/dispatchers";
import { inVhost } from "./declare";
import { report } from "./statistics";
import { StoreGround, countdown, emptyStore, fill, onStoreGround, publishConfirmed, workChannel } from "./storeParts";

const MESSAGES = 20_000;
const REPETITIONS = 3;
const BATCH = 500;
const BODY = "x".repeat(200);

type Contestant = (ground: StoreGround, vhost: string) => Promise<number>;

/** Due messages published a second, with confirms, and removed: the dispatcher, and two job queues that do the same publish. */
export async function benchStoreDispatch(): Promise<void> {
  console.log(`${MESSAGES} due messages of 200 bytes, ${REPETITIONS} repetitions (min / median / max)`);
  await onStoreGround(async (ground) => {
    const contestants: Record<string, Contestant> = {
      "store on PostgreSQL": ({ postgres }, vhost) => ours(ground, vhost, postgres.url),
      "store on SQLite": ({ sqlite }, vhost) => ours(ground, vhost, sqlite()),
      "bound: bare amqplib out of memory, 1,000 at once": bound,
      "pg-boss, work() in batches of 500": pgBossWork,
      "pg-boss, fetch() and complete() by hand, batches of 500": pgBossByHand,
      "graphile-worker, local queue of 500, 100 at once": graphileWorker,
    };
    const rates = new Map<string, number[]>(Object.keys(contestants).map((name) => [name, []]));
    for (let repetition = 0; repetition < REPETITIONS; repetition++) {
      for (const [name, contestant] of Object.entries(contestants)) {
        rates.get(name)?.push(await inVhost(ground.broker, (vhost) => contestant(ground, vhost)));
      }
    }
    for (const [name, values] of rates) report(name, values, "messages/s", 0);
    const mine = rates.get("store on PostgreSQL") ?? [];
    for (const [name, values] of rates) {
      if (name.startsWith("store")) continue;
      const ratios = mine.map((rate, index) => rate / (values[index] ?? Number.NaN));
      report(`PostgreSQL / ${name.slice(0, 44)}`, ratios, "times");
    }
  });
}

async function ours({ broker }: StoreGround, vhost: string, address: string): Promise<number> {
  const store = await emptyStore(address);
  await fill(store, MESSAGES, 0);
  const { close } = await workChannel(broker, vhost);
  const { count, finished } = countdown(MESSAGES);
  const start = performance.now();
  const events = { onDelivered: ({ length }: unknown[]): void => count(length) };
  const { stop } = startDispatcher(broker, vhost, store, { settings: { batchSize: BATCH }, events });
  await finished;
  while ((await store.count()).pending > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  const seconds = (performance.now() - start) / 1000;
  await stop();
  await store.close();
  await close();
  return MESSAGES / seconds;
}

/** What the broker and its client take without any database. */
const bound: Contestant = async ({ broker }, vhost) => {
  const { channel, close } = await workChannel(broker, vhost);
  let next = 0;
  const start = performance.now();
  const loop = async (): Promise<void> => {
    while (next < MESSAGES) await publishConfirmed(channel, Buffer.from(BODY), `m${next++}`);
  };
  await Promise.all(Array.from({ length: 2 * BATCH }, loop));
  const seconds = (performance.now() - start) / 1000;
  await close();
  return MESSAGES / seconds;
};

async function withPgBoss(
  { broker, postgres }: StoreGround,
  vhost: string,
  body: (boss: PgBoss, publish: (jobs: PgBoss.Job<{ body: string }>[]) => Promise<void>) => Promise<void>,
): Promise<number> {
  const boss = new PgBoss({ connectionString: postgres.url, supervise: false, schedule: false });
  boss.on("error", () => undefined);
  await boss.start();
  await boss.deleteQueue("bench").catch(() => undefined);
  await boss.createQueue("bench");
  for (let start = 0; start < MESSAGES; start += 1000) {
    await boss.insert(Array.from({ length: 1000 }, () => ({ name: "bench", data: { body: BODY } })));
  }
  const { channel, close } = await workChannel(broker, vhost);
  const publish = async (jobs: PgBoss.Job<{ body: string }>[]): Promise<void> => {
    await Promise.all(jobs.map(({ id, data }) => publishConfirmed(channel, Buffer.from(data.body), id)));
  };
  const start = performance.now();
  await body(boss, publish);
  const seconds = (performance.now() - start) / 1000;
  await boss.stop({ graceful: false, wait: true });
  await close();
  return MESSAGES / seconds;
}

/** As its documentation has it, with the largest rate of polling that it takes. */
const pgBossWork: Contestant = (ground, vhost) =>
  withPgBoss(ground, vhost, async (boss, publish) => {
    const options = { batchSize: BATCH, pollingIntervalSeconds: 0.5 };
    await boss.work<{ body: string }>("bench", options, publish);
    while ((await boss.getQueueSize("bench", { before: "completed" })) > 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

/** Without any pause, which its own loop does not offer; two at once, as the dispatcher. */
const pgBossByHand: Contestant = (ground, vhost) =>
  withPgBoss(ground, vhost, async (boss, publish) => {
    const loop = async (): Promise<void> => {
      for (;;) {
        const jobs = await boss.fetch<{ body: string }>("bench", { batchSize: BATCH });
        if (jobs.length === 0) return;
        await publish(jobs);
        await boss.complete(
          "bench",
          jobs.map(({ id }) => id),
        );
      }
    };
    await Promise.all([loop(), loop()]);
  });

const graphileWorker: Contestant = async ({ broker, postgres }, vhost) => {
  const connectionString = postgres.url;
  // By default it writes a line for each message.
  const logger = new Logger(() => () => undefined);
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  for (let start = 0; start < MESSAGES; start += 1000) {
    await utils.addJobs(Array.from({ length: 1000 }, () => ({ identifier: "bench", payload: { body: BODY } })));
  }
  const { channel, close } = await workChannel(broker, vhost);
  const { count, finished } = countdown(MESSAGES);
  const start = performance.now();
  const runner = await run({
    connectionString,
    logger,
    concurrency: 100,
    noHandleSignals: true,
    preset: { worker: { localQueue: { size: BATCH }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    taskList: {
      bench: async (payload, { job }) => {
        await publishConfirmed(channel, Buffer.from((payload as { body: string }).body), job.id);
        count(1);
      },
    },
  });
  await finished;
  const seconds = (performance.now() - start) / 1000;
  await runner.stop();
  await utils.release();
  await close();
  return MESSAGES / seconds;
};
