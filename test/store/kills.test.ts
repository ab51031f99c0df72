import { strict as assert } from "node:assert";
import * as amqp from "amqplib";
import { launch, stopPostgres } from "../../toolchain/dist/postgresServer";
import { BELIEVED_MS, UNWRITTEN_MS } from "../gauntlet/invariants/receipts";
import { TestBroker, crashAndRestart, onEachBroker, ownTestBroker, untilRegistered } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { assertNotEarly } from "../support/clock";
import { openChannel } from "../support/connect";
import { rounds } from "../support/length";
import { onEachDatabase, ownEndpoint, ownPostgres, readyStore } from "../support/databases";
import { StoreProcess } from "../support/storeService";

/** In the nightly run more than the deliveries that RabbitMQ 4 allows a message by itself. */
const ROUNDS = rounds(10, 25);
const MESSAGES_A_ROUND = 50;
const SEED = 4711;
const LONGEST_DELAY_MS = 1500;

describe("a store killed again and again", function () {
  onEachBroker((broker) => {
    onEachDatabase((database) => {
      it(`${ROUNDS} kills of its process, the broker and the database at random points: nothing lost or early, no copy but for a kill, none under another id but for a reason in the docs`, async () => {
        const random = randomNumbers(SEED);
        const own = await ownTestBroker(broker().node.installation);
        const vhost = await own.management.createVhost();
        const channel = await openChannel(own, vhost, { isExpectedToBreak: true });
        await channel.assertQueue("work", { durable: true, arguments: { "x-queue-type": "quorum" } });
        const server = database.isShared ? await ownPostgres() : undefined;
        const [address, name] = [server?.url ?? (await database.address()), ownEndpoint()];
        const start = (): Promise<StoreProcess> =>
          StoreProcess.start(
            own,
            vhost,
            [
              "--store",
              address,
              "--declare",
              "--management",
              own.node.managementUrl,
              "--name",
              name,
              "--number-of-retries",
              "1000",
            ],
            // All bodies wait in files there.
            database.isShared ? {} : { RABBITMQ_DELAY_STORE_BODY_MEMORY_BYTES: "1" },
          );
        let service = await start();
        await service.untilHealth(({ isReady }) => isReady);
        await untilRegistered(own, vhost);
        const arrivals = collect(own, vhost);
        const publisher = new PersistentPublisher(own, vhost, name);

        const kills: Record<string, () => Promise<void>> = {
          process: async () => {
            await service.kill();
            service = await start();
          },
          broker: () => crashAndRestart(own),
          ...(server === undefined
            ? {}
            : {
                database: async () => {
                  await stopPostgres(server, "SIGKILL");
                  Object.assign(server, await launch(server));
                },
              }),
        };
        const done: Record<string, number> = {};
        const spans: { kind: string; start: number; end: number; markMs: number }[] = [];
        const publishing: Promise<void>[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          for (let index = 0; index < MESSAGES_A_ROUND; index++) {
            publishing.push(publisher.publish(messageOf(round, index, Math.floor(random() * LONGEST_DELAY_MS))));
          }
          await new Promise((resolve) => setTimeout(resolve, random() * LONGEST_DELAY_MS));
          // The broker takes longest to come back, so it is killed in every fifth round only.
          const others = Object.keys(kills).filter((kind) => kind !== "broker");
          const kind = round % 5 === 4 ? "broker" : (others[Math.floor(random() * others.length)] as string);
          done[kind] = (done[kind] ?? 0) + 1;
          const start = Date.now();
          await kills[kind]?.();
          const end = Date.now();
          // The broker delivers older messages again before this one. Once it has arrived, they are stored.
          const mark = messageOf(round, MESSAGES_A_ROUND, 0);
          await publisher.publish(mark);
          while (!arrivals.has(mark.body)) await new Promise((resolve) => setTimeout(resolve, 20));
          spans.push({ kind, start, end, markMs: Date.now() });
        }
        await Promise.all(publishing);
        const bodies = [...publisher.attempts.keys()];
        const isThere = (body: string): boolean => idsIn(arrivals, body).length >= copiesOf(body);
        while (!bodies.every(isThere)) await new Promise((resolve) => setTimeout(resolve, 50));
        const store = await readyStore(address, name);
        while ((await store.count()).pending > 0) await new Promise((resolve) => setTimeout(resolve, 50));
        const reading = await openChannel(own, vhost);
        while ((await reading.checkQueue("work")).messageCount > 0)
          await new Promise((resolve) => setTimeout(resolve, 50));
        assert.equal((await reading.checkQueue(`${name}.error`)).messageCount, 0);

        let copies = 0;
        let renamed = 0;
        assert.deepEqual([...arrivals.keys()].sort(), bodies.sort(), "all of them, and nothing else");
        for (const [body, found] of arrivals) {
          const ids = idsIn(arrivals, body);
          // A publisher whose confirm was lost publishes once more, and without an id that is another message.
          const most = isNamed(body) ? 1 : (publisher.attempts.get(body) as number);
          if (ids.length > most) renamed++;
          const publishedMs = publisher.publishedMs.get(body) as number;
          // A kill's returned messages come before its mark. A broker may be killed before it has written an acknowledgement.
          const kill = spans.find(({ start }) => start >= publishedMs);
          const isForgotten = kill !== undefined && kill.markMs - publishedMs >= BELIEVED_MS;
          const isUnwritten = kill?.kind === "broker" && kill.start - publishedMs <= UNWRITTEN_MS;
          const isRenamed = !isNamed(body) && (isForgotten || isUnwritten);
          // Each of several equal messages may be in hand when the kill comes.
          assert.ok(ids.length <= (isRenamed ? 2 * most : most), `${body}: ${ids.length} ids of ${most} messages`);
          assert.ok(!isNamed(body) || ids[0] === body, `${body} came as ${ids.join(", ")}`);
          for (const { atMs } of found) {
            assertNotEarly(body, atMs, publisher.dueMs.get(body) as number);
          }
          for (const id of ids) {
            const times = found.filter((arrival) => arrival.id === id).map(({ atMs }) => atMs);
            for (const atMs of times.slice(1)) {
              copies++;
              // The first copy may have been on its way already when the kill came, and have arrived after that.
              const sentMs = publisher.dueMs.get(body) as number;
              const isKilled = spans.some(({ start, end }) => start <= atMs && end >= sentMs);
              const isRepeated = (publisher.attempts.get(body) as number) > copiesOf(body);
              assert.ok(isKilled || isRepeated, `${body} came twice, and nothing was killed since it was due`);
            }
          }
        }
        const said = Object.entries(done).map(([kind, count]) => `${count} ${kind}`);
        console.log(
          `        killed: ${said.join(", ")}; ${bodies.length} bodies, ${copies} copies (${publisher.repeated} published again); ` +
            `${renamed} messages under another id`,
        );
      });
    });
  });
});

/** A message: every second one has an id, and of the others every fifth is published twice, equal in all. */
function messageOf(round: number, index: number, delayMs: number): { body: string; delayMs: number } {
  const kind = index % 2 === 0 ? "named" : index % 10 === 1 ? "twin" : "nameless";
  return { body: `${kind} ${round}-${index}`, delayMs };
}

const isNamed = (body: string): boolean => body.startsWith("named");
const copiesOf = (body: string): number => (body.startsWith("twin") ? 2 : 1);

function idsIn(arrivals: Map<string, { id: string }[]>, body: string): string[] {
  return [...new Set((arrivals.get(body) ?? []).map(({ id }) => id))];
}

/** The same numbers from 0 to 1 for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Connects, and again whenever that ends, until the test does. */
function persistently(
  { node }: TestBroker,
  vhost: string,
  use: (channel: amqp.ConfirmChannel) => Promise<unknown>,
): void {
  let isOver = false;
  let connection: amqp.ChannelModel | undefined;
  afterThisTest(async () => {
    isOver = true;
    await connection?.close().catch(() => undefined);
  });
  const connect = async (): Promise<void> => {
    while (!isOver) {
      try {
        connection = await amqp.connect(`${node.amqpUrl}/${vhost}`);
        connection.on("error", () => undefined);
        const ended = new Promise((resolve) => connection?.once("close", resolve));
        const channel = await connection.createConfirmChannel();
        channel.on("error", () => undefined);
        await use(channel);
        await ended;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  void connect();
}

/** What arrives in `work`, by body; what the broker delivers again because an acknowledgement was lost is no copy. */
function collect(broker: TestBroker, vhost: string): Map<string, { id: string; atMs: number }[]> {
  const seen = new Map<string, { id: string; atMs: number }[]>();
  persistently(broker, vhost, (channel) =>
    channel.consume("work", (message) => {
      if (message === null) return;
      const [body, id] = [message.content.toString(), message.properties.messageId as string];
      const arrivals = seen.get(body) ?? [];
      seen.set(body, arrivals);
      const isKnown = message.fields.redelivered && arrivals.some((arrival) => arrival.id === id);
      if (!isKnown) arrivals.push({ id, atMs: Date.now() });
      channel.ack(message);
    }),
  );
  return seen;
}

/** Publishes until the broker has confirmed it; a message with an id under the same one. */
class PersistentPublisher {
  repeated = 0;
  /** How often each body was published, confirmed or not. */
  readonly attempts = new Map<string, number>();
  /** When each body was published first. */
  readonly publishedMs = new Map<string, number>();
  /** When the first message of each body is due at the earliest. */
  readonly dueMs = new Map<string, number>();
  private channel: amqp.ConfirmChannel | undefined;

  constructor(
    broker: TestBroker,
    vhost: string,
    private readonly exchange: string,
  ) {
    persistently(broker, vhost, async (channel) => {
      channel.on("close", () => (this.channel = undefined));
      this.channel = channel;
    });
  }

  async publish({ body, delayMs }: { body: string; delayMs: number }): Promise<void> {
    await Promise.all(Array.from({ length: copiesOf(body) }, () => this.publishUntilConfirmed(body, delayMs)));
  }

  private async publishUntilConfirmed(body: string, delayMs: number): Promise<void> {
    while (!(await this.publishOnce(body, delayMs))) await new Promise((resolve) => setTimeout(resolve, 100));
  }

  private publishOnce(body: string, delayMs: number): Promise<boolean> {
    const { channel } = this;
    if (channel === undefined) return Promise.resolve(false);
    this.attempts.set(body, (this.attempts.get(body) ?? 0) + 1);
    if (!this.dueMs.has(body)) {
      this.publishedMs.set(body, Date.now());
      this.dueMs.set(body, Date.now() + delayMs);
    }
    return new Promise((resolve) => {
      const options = {
        ...(isNamed(body) ? { messageId: body } : {}),
        persistent: true,
        headers: { "x-delay": delayMs },
      };
      const settle = (isConfirmed: boolean): void => {
        if (!isConfirmed) this.repeated++;
        resolve(isConfirmed);
      };
      try {
        channel.publish(this.exchange, "work", Buffer.from(body), options, (error: unknown) =>
          settle(error === null || error === undefined),
        );
      } catch {
        settle(false);
      }
    });
  }
}
