import { strict as assert } from "node:assert";
import * as amqp from "amqplib";
import { launch, stopPostgres } from "../../toolchain/dist/postgresServer";
import { TestBroker, crashAndRestart, onEachBroker, ownTestBroker, untilRegistered } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { onEachDatabase, ownEndpoint, ownPostgres, readyStore } from "../support/databases";
import { StoreProcess } from "../support/storeService";

const ROUNDS = 20;
const MESSAGES_A_ROUND = 50;
const SEED = 4711;
const LONGEST_DELAY_MS = 1500;

describe("a store killed again and again", function () {
  this.timeout(600_000);

  onEachBroker((broker) => {
    onEachDatabase((database) => {
      it(`${ROUNDS} kills of its process, the broker and the database at random points lose nothing`, async () => {
        const random = randomNumbers(SEED);
        const own = await ownTestBroker(broker().node.installation);
        const vhost = await own.management.createVhost();
        const channel = await openChannel(own, vhost, { isExpectedToBreak: true });
        await channel.assertQueue("work", { durable: true, arguments: { "x-queue-type": "quorum" } });
        const server = database.isShared ? await ownPostgres() : undefined;
        const [address, name] = [server?.url ?? (await database.address()), ownEndpoint()];
        const start = (): Promise<StoreProcess> =>
          StoreProcess.start(own, vhost, [
            "--store",
            address,
            "--declare",
            "--name",
            name,
            "--number-of-retries",
            "1000",
          ]);
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
        const publishing: Promise<void>[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          for (let index = 0; index < MESSAGES_A_ROUND; index++) {
            publishing.push(publisher.publish(`${round}-${index}`, Math.floor(random() * LONGEST_DELAY_MS)));
          }
          await new Promise((resolve) => setTimeout(resolve, random() * LONGEST_DELAY_MS));
          // The broker takes longest to come back, so it is killed in every fifth round only.
          const others = Object.keys(kills).filter((kind) => kind !== "broker");
          const kind = round % 5 === 4 ? "broker" : (others[Math.floor(random() * others.length)] as string);
          done[kind] = (done[kind] ?? 0) + 1;
          await kills[kind]?.();
        }
        await Promise.all(publishing);
        const ids = Array.from({ length: ROUNDS * MESSAGES_A_ROUND }, (_, index) => idOf(index));
        while (arrivals.seen.size < ids.length) await new Promise((resolve) => setTimeout(resolve, 50));
        const store = await readyStore(address, name);
        while ((await store.count()).pending > 0) await new Promise((resolve) => setTimeout(resolve, 50));

        assert.deepEqual(
          [...arrivals.seen.keys()].sort(),
          ids.sort(),
          "all of them, and each copy under the id of the first",
        );
        const reading = await openChannel(own, vhost);
        assert.equal((await reading.checkQueue(`${name}.error`)).messageCount, 0);
        const copies = [...arrivals.seen.values()].reduce((sum, count) => sum + count, 0) - ids.length;
        const said = Object.entries(done).map(([kind, count]) => `${count} ${kind}`);
        console.log(
          `        killed: ${said.join(", ")}; ${ids.length} messages, ${copies} copies (${publisher.repeated} published again)`,
        );
      });
    });
  });
});

function idOf(index: number): string {
  return `${Math.floor(index / MESSAGES_A_ROUND)}-${index % MESSAGES_A_ROUND}`;
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

/** What arrives in `work`, by message id; what the broker delivers again because an acknowledgement was lost is no copy. */
function collect(broker: TestBroker, vhost: string): { seen: Map<string, number> } {
  const seen = new Map<string, number>();
  persistently(broker, vhost, (channel) =>
    channel.consume("work", (message) => {
      if (message === null) return;
      const id = message.properties.messageId as string;
      if (!message.fields.redelivered || !seen.has(id)) seen.set(id, (seen.get(id) ?? 0) + 1);
      channel.ack(message);
    }),
  );
  return { seen };
}

/** Publishes until the broker has confirmed it, under the same id. */
class PersistentPublisher {
  repeated = 0;
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

  async publish(messageId: string, delayMs: number): Promise<void> {
    for (;;) {
      const isConfirmed = await this.publishOnce(messageId, delayMs);
      if (isConfirmed) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  private publishOnce(messageId: string, delayMs: number): Promise<boolean> {
    const { channel } = this;
    if (channel === undefined) return Promise.resolve(false);
    return new Promise((resolve) => {
      const options = { messageId, persistent: true, headers: { "x-delay": delayMs } };
      const settle = (isConfirmed: boolean): void => {
        if (!isConfirmed) this.repeated++;
        resolve(isConfirmed);
      };
      try {
        channel.publish(this.exchange, "work", Buffer.from("x"), options, (error: unknown) =>
          settle(error === null || error === undefined),
        );
      } catch {
        settle(false);
      }
    });
  }
}
