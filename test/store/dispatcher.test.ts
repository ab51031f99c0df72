import { strict as assert } from "node:assert";
import type { ConfirmChannel } from "amqplib";
import { errorHeaders } from "@rabbitmq-delay/publish/parts";
import { DelayedMessage, DelayedMessageStore, delayedMessage, openStore } from "@rabbitmq-delay/store";
import { SteadyClock } from "@rabbitmq-delay/store/testing";
import { rabbitmqctl } from "../../toolchain/dist/brokerControl";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { assertNotEarly } from "../support/clock";
import { openChannel } from "../support/connect";
import { onEachDatabase, ownEndpoint, readyStore, sharedPostgres } from "../support/databases";
import { errorQueue, runDispatcher } from "../support/dispatchers";
import { Receiver } from "../support/receive";
import { temporaryFolder } from "../support/temporaryFolder";

const SHARED_MESSAGES = 20_000;
const DISPATCHERS = 4;

describe("Dispatcher", () => {
  onEachBroker((broker) => {
    /** A vhost with the queue `work` and an error queue, and a channel there. */
    const declare = async (): Promise<{ vhost: string; channel: ConfirmChannel }> => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await channel.assertExchange(errorQueue, "fanout");
      for (const queue of ["work", errorQueue]) await channel.assertQueue(queue, { durable: true });
      await channel.bindQueue(errorQueue, errorQueue, "");
      return { vhost, channel };
    };

    onEachDatabase((database) => {
      it(`${DISPATCHERS} of them deliver ${SHARED_MESSAGES} messages of one table, each once`, async () => {
        const { vhost, channel } = await declare();
        const [address, endpoint] = [await database.address(), ownEndpoint()];
        const stores = await Promise.all(Array.from({ length: DISPATCHERS }, () => readyStore(address, endpoint)));
        const ids = Array.from({ length: SHARED_MESSAGES }, (_, index) => `m${index}`);
        for (let start = 0; start < ids.length; start += 1000) {
          const part = ids.slice(start, start + 1000);
          await stores[0]?.storeAll(
            part.map((messageId) => delayedMessage({ routingKey: "work", body: "x", messageId, delayMs: 0 })),
          );
        }
        const receiver = await Receiver.on(channel, ["work"]);
        const delivered = stores.map(() => 0);
        stores.forEach((store, index) => {
          const onDelivered = (messages: DelayedMessage[]): void =>
            void (delivered[index] = (delivered[index] ?? 0) + messages.length);
          runDispatcher(broker(), vhost, store, { events: { onDelivered } });
        });
        const arrivals = await receiver.until(SHARED_MESSAGES);
        while ((await stores[0]?.count())?.pending !== 0) await new Promise((resolve) => setTimeout(resolve, 10));
        assert.equal((await channel.checkQueue("work")).messageCount, 0);
        assert.equal(arrivals.length, SHARED_MESSAGES);
        assert.deepEqual(arrivals.map(({ message }) => message.properties.messageId as string).sort(), ids.sort());
        assert.equal(
          delivered.reduce((sum, count) => sum + count),
          SHARED_MESSAGES,
        );
        assert.ok(delivered.filter((count) => count > 0).length > 1, `shared: ${delivered.join(", ")}`);
      });

      // One queue that hung kept all other messages in the store for as long as it did.
      // A quorum queue that refuses what is too much holds up the channel that publishes there for the first time, and a few hundred messages to
      // such a channel the whole connection.
      const hanging: [string, number, object][] = [
        ["classic", 5, {}],
        ["quorum", 5, { "x-overflow": "reject-publish" }],
        // Half a minute each.
        ...(database.isShared ? [] : [["quorum", 500, { "x-overflow": "reject-publish" }] as [string, number, object]]),
      ];
      for (const [type, batchSize, more] of hanging)
        it(`a ${type} queue that does not answer keeps no message of another one, and loses none of its own, ${batchSize} at once`, async () => {
          const { vhost, channel } = await declare();
          const store = await readyStore(await database.address(), ownEndpoint());
          const count = 2 * batchSize;
          await channel.assertQueue("hung", { durable: true, arguments: { "x-queue-type": type, ...more } });
          const hung = `rabbit_misc:r(<<"${vhost}">>, queue, <<"hung">>)`;
          const tell = (verb: "suspend" | "resume"): Promise<unknown> =>
            rabbitmqctl(
              broker().node,
              "eval",
              `{ok, Q} = rabbit_amqqueue:lookup(${hung}), sys:${verb}(case amqqueue:get_pid(Q) of {N, _} -> N; P -> P end, infinity).`,
            );
          const message = (messageId: string, routingKey: string): ReturnType<typeof delayedMessage> =>
            delayedMessage({ routingKey, body: messageId, messageId, delayMs: 0 });
          await tell("suspend");
          try {
            // As many as are in hand at once.
            await store.storeAll(Array.from({ length: count }, (_, index) => message(`hung${index}`, "hung")));
            runDispatcher(broker(), vhost, store, { settings: { confirmTimeoutMs: 500, batchSize } });
            const receiver = await Receiver.on(channel, ["work"]);
            await store.store(message("other", "work"));
            await receiver.until(1);
            assert.deepEqual(await store.count().then(({ pending, failed }) => [pending >= count, failed]), [true, 0]);
          } finally {
            await tell("resume");
          }
          while ((await store.count()).pending > 0) await new Promise((resolve) => setTimeout(resolve, 20));
          const receiver = await Receiver.on(channel, ["hung"]);
          const ids = (): string[] => [
            ...new Set(receiver.arrivals.map(({ message: { properties } }) => properties.messageId as string)),
          ];
          while (ids().length < count) await receiver.until(receiver.arrivals.length + 1);
        });

      it("tries again as often as it may, and then parks; one message's fault is not the others'", async () => {
        const { vhost, channel } = await declare();
        const store = await readyStore(await database.address(), ownEndpoint());
        await channel.assertQueue("full", { arguments: { "x-max-length": 1, "x-overflow": "reject-publish" } });
        await channel.sendToQueue("full", Buffer.from("x"));
        await channel.waitForConfirms();
        const message = (messageId: string, routingKey: string, more = {}): ReturnType<typeof delayedMessage> =>
          delayedMessage({ routingKey, body: messageId, messageId, delayMs: 0, ...more });
        await store.storeAll([
          ...Array.from({ length: 50 }, (_, index) => message(`before${index}`, "work")),
          message("nobody", "nobody"),
          message("nowhere", "work", { exchange: "nowhere" }),
          message("full", "full"),
          // The broker closes the channel for the first of these; the second is refused before it is sent.
          message("user", "work", { userId: "somebody else" }),
          message("expiration", "work", { expiration: "never" }),
          // Its copy for the error queue closed the channel, too, for ever.
          { ...message("reply", "work"), properties: { replyTo: "amq.rabbitmq.reply-to" } },
          // What is stored past all checks, and can't even be written to the socket.
          { ...message("unsendable", "work"), properties: { priority: 300, headers: { not: -Infinity } } },
          ...Array.from({ length: 50 }, (_, index) => message(`after${index}`, "work")),
        ]);
        const receiver = await Receiver.on(channel, ["work", errorQueue]);
        const retries = new Map<string, number>();
        const onRetry = ({ messageId }: DelayedMessage): void =>
          void retries.set(messageId, (retries.get(messageId) ?? 0) + 1);
        runDispatcher(broker(), vhost, store, {
          settings: { numberOfRetries: 2, retryDelayMs: 5 },
          events: { onRetry },
        });
        while ((await store.count()).pending > 0) await new Promise((resolve) => setTimeout(resolve, 10));
        const faulty = ["expiration", "full", "nobody", "nowhere", "reply", "unsendable", "user"];
        const of = (queue: string): string[] => [
          ...new Set(
            receiver.arrivals
              .filter((found) => found.queue === queue)
              .map(({ message: { content } }) => content.toString()),
          ),
        ];
        await receiver.until(100 + faulty.length);
        while (of(errorQueue).length < faulty.length || of("work").length < 100)
          await new Promise((resolve) => setTimeout(resolve, 10));
        assert.deepEqual(of(errorQueue).sort(), faulty);
        assert.equal(of("work").length, 100);
        assert.deepEqual(
          [...retries.values()],
          faulty.map(() => 2),
        );
        const reasons = {
          expiration: /expiration/i,
          full: /nack/,
          nobody: /no queue/,
          nowhere: /no exchange 'nowhere'/,
          reply: /fast reply consumer does not exist/,
          unsendable: /priority: 300 is not allowed; it must be a whole number from 0 to 255/,
          user: /user_id/,
        };
        for (const [messageId, reason] of Object.entries(reasons)) {
          const found = receiver.arrivals.find(
            ({ queue, message: { properties } }) => queue === errorQueue && properties.messageId === messageId,
          );
          const headers = found?.message.properties.headers ?? {};
          assert.match(String(headers[errorHeaders.reason]), reason);
          assert.equal(headers[errorHeaders.tries], 3);
        }
      });

      it("keeps what neither its destination nor the error queue takes, and reports it", async () => {
        const { vhost, channel } = await declare();
        const store = await readyStore(await database.address(), ownEndpoint());
        await channel.deleteExchange(errorQueue);
        await store.storeAll(
          ["a", "b", "c"].map((messageId) =>
            delayedMessage({ routingKey: "nobody", body: "x", messageId, delayMs: 0 }),
          ),
        );
        let stuck = 0;
        const triggered = new Promise<string>((resolve) => {
          const events = { onStuck: () => void stuck++, onTriggered: resolve };
          const settings = { retryDelayMs: 1, maximumRecoveryFailuresPerSecond: 0.1 };
          runDispatcher(broker(), vhost, store, { settings, events });
        });
        assert.equal(await triggered, "recovery");
        assert.ok(stuck >= 3);
        assert.equal((await store.count()).pending, 3);
        await channel.assertExchange(errorQueue, "fanout");
        await channel.bindQueue(errorQueue, errorQueue, "");
        // What stays is tried again and again, so nobody has to do anything.
        const arrivals = await (await Receiver.on(channel, [errorQueue])).until(3);
        assert.deepEqual(arrivals.map(({ message }) => message.properties.messageId as string).sort(), ["a", "b", "c"]);
      });

      // One destination without the right to publish closed the channel again and again, and the others' messages were repeated each time.
      it("sends apart what the broker refused before, so that nothing else is repeated", async () => {
        const { vhost, channel } = await declare();
        const store = await readyStore(await database.address(), ownEndpoint());
        await channel.assertExchange("theirs", "topic", { internal: true });
        const message = (messageId: string, exchange = ""): ReturnType<typeof delayedMessage> =>
          delayedMessage({ exchange, routingKey: "work", body: messageId, messageId, delayMs: 0 });
        const receiver = await Receiver.on(channel, ["work", errorQueue]);
        runDispatcher(broker(), vhost, store);
        await store.store(message("first", "theirs"));
        await receiver.until(1);
        const ids = Array.from({ length: 300 }, (_, index) => `m${index}`);
        await store.storeAll([
          ...ids.map((id) => message(id)),
          message("second", "theirs"),
          message("third", "theirs"),
        ]);
        while ((await store.count()).pending !== 0) await new Promise((resolve) => setTimeout(resolve, 10));
        const arrivals = await receiver.until(303);
        assert.deepEqual(
          arrivals.map(({ message: { properties } }) => properties.messageId as string).sort(),
          [...ids, "first", "second", "third"].sort(),
        );
      });

      it("is woken by what is stored and rescheduled, by others too where the database tells", async () => {
        const { vhost, channel } = await declare();
        const [address, endpoint] = [await database.address(), ownEndpoint()];
        const [store, other] = [await readyStore(address, endpoint), await readyStore(address, endpoint)];
        const receiver = await Receiver.on(channel, ["work"]);
        runDispatcher(broker(), vhost, store);
        await other.store(delayedMessage({ routingKey: "work", body: "a", messageId: "a", delayMs: 3_600_000 }));
        await other.store(delayedMessage({ routingKey: "work", body: "b", delayMs: 200 }));
        assert.equal((await receiver.until(1))[0]?.message.content.toString(), "b");
        await other.reschedule("a", new Date());
        assert.equal((await receiver.until(2))[1]?.message.content.toString(), "a");
      });

      it("leaves out what a broker said of a message's way: it would take it for one that goes round in circles", async () => {
        const { vhost, channel } = await declare();
        const store = await readyStore(await database.address(), ownEndpoint());
        const headers = {
          kept: 1,
          "x-death": [{ queue: "work", reason: "expired", count: 1, exchange: "", "routing-keys": ["work"] }],
          "x-first-death-queue": "work",
          "x-last-death-reason": "expired",
          "x-delivery-count": 7,
        };
        await store.store(delayedMessage({ routingKey: "work", body: "x", messageId: "a", delayMs: 0, headers }));
        const receiver = await Receiver.on(channel, ["work"]);
        runDispatcher(broker(), vhost, store);
        assert.deepEqual((await receiver.until(1))[0]?.message.properties.headers, { kept: 1 });
      });

      it("outlives jumps of the clock: nothing lost, early or twice, and no busy loop", async () => {
        const { vhost, channel } = await declare();
        const store = await readyStore(await database.address(), ownEndpoint());
        const receiver = await Receiver.on(channel, ["work"]);
        let offsetMs = 0;
        const locks = { taken: 0, held: 0 };
        const counting = counted(store, locks);
        let waitedMs = 0;
        const clock = new SteadyClock(
          () => Date.now() + offsetMs,
          () => performance.now() + waitedMs,
        );
        const { dispatcher } = runDispatcher(broker(), vhost, counting, { clock });
        const earliestMs = new Map<string, number>();
        const storeOne = async (messageId: string, delayMs: number): Promise<void> => {
          earliestMs.set(messageId, Date.now() + delayMs);
          await store.store(
            delayedMessage({ routingKey: "work", body: messageId, messageId, delayMs }, {}, clock.now()),
          );
          dispatcher.wake(new Date(clock.now() + delayMs));
        };
        await storeOne("in an hour", 3_600_000);
        // Ahead by two hours, and back before anybody believed it.
        offsetMs = 2 * 3_600_000;
        await storeOne("during the jump", 100);
        assert.deepEqual(
          (await receiver.until(1)).map(({ message }) => message.content.toString()),
          ["during the jump"],
        );
        offsetMs = 0;
        // Back by an hour: what was due in seconds is due in an hour; what comes later is not.
        await storeOne("before the jump", 5000);
        // A fetch that is under way goes by the time before the jump.
        while (locks.held > 0) await new Promise((resolve) => setTimeout(resolve, 1));
        offsetMs = -3_600_000;
        await storeOne("after the jump", 100);
        assert.equal((await receiver.until(2))[1]?.message.content.toString(), "after the jump");
        while ((await store.count()).pending > 2) await new Promise((resolve) => setTimeout(resolve, 10));
        assert.equal((await store.count()).pending, 2, "nothing is lost");
        offsetMs = 0;
        clock.now();
        // A jump ahead is believed after half a minute.
        waitedMs = 31_000;
        dispatcher.wake(new Date(0));
        assert.equal((await receiver.until(3))[2]?.message.content.toString(), "before the jump");
        while ((await store.count()).pending > 1) await new Promise((resolve) => setTimeout(resolve, 10));
        const left = (await store.list()).messages.map(({ messageId }) => messageId);
        assert.deepEqual(left, ["in an hour"], "nothing is lost, and that one is not early");
        assert.equal((await channel.checkQueue("work")).messageCount, 0);
        const arrived = receiver.arrivals.map(({ message, atMs }) => ({ id: message.content.toString(), atMs }));
        assert.deepEqual(
          arrived.map(({ id }) => id),
          ["during the jump", "after the jump", "before the jump"],
          "nothing came twice",
        );
        for (const { id, atMs } of arrived) assertNotEarly(id, atMs, earliestMs.get(id) as number);
        assert.ok(locks.taken < 100, `${locks.taken} fetches`);
      });
    });
  });
});

describe("a store and the caller's transaction", () => {
  it("PostgreSQL: committed together, or not at all", async () => {
    const { Client, Pool } = await import("pg");
    const { url } = await sharedPostgres();
    const endpoint = ownEndpoint();
    const store = await readyStore(url, endpoint);
    const strict = openStore(url, { mode: "transactional" });
    afterThisTest(() => strict.close());
    await strict.initialize(endpoint);
    const client = new Client({ connectionString: url });
    await client.connect();
    afterThisTest(() => client.end());
    await client.query(`CREATE TABLE "orders-${endpoint}" (id text)`);
    const message = delayedMessage({ routingKey: "work", body: "x", delayMs: 0 });
    for (const [end, count] of [
      ["ROLLBACK", 0],
      ["COMMIT", 1],
    ] as const) {
      await client.query("BEGIN");
      await client.query(`INSERT INTO "orders-${endpoint}" VALUES ('a')`);
      await strict.store(message, { transaction: client });
      assert.equal((await store.count()).pending, 0, "nobody sees it before");
      await client.query(end);
      const { rows } = await client.query(`SELECT count(*)::int AS orders FROM "orders-${endpoint}"`);
      assert.deepEqual([(await store.count()).pending, rows[0].orders], [count, count]);
    }
    const pool = new Pool({ connectionString: url });
    afterThisTest(() => pool.end());
    await assert.rejects(store.store(message, { transaction: pool }), /transaction: .*not a pool/);
    await assert.rejects(store.store(message, { transaction: client }), /transaction: .*BEGIN first/);
    await assert.rejects(store.store(message, { transaction: {} }), /transaction/);
    await assert.rejects(strict.store(message), /mode transactional/);
  });

  it("SQLite: opens while another one dispatches, and waits for its turn", async () => {
    const [address, endpoint] = [`sqlite:${temporaryFolder()}/delayed.db`, ownEndpoint()];
    const store = await readyStore(address, endpoint);
    await store.store(delayedMessage({ messageId: "a", routingKey: "work", body: "x", delayMs: 0 }));
    let cancelled: Promise<number> | undefined;
    await store.inLock(async () => {
      const other = openStore(address);
      afterThisTest(() => other.close());
      await other.initialize(endpoint);
      assert.equal((await other.count()).pending, 1);
      cancelled = other.cancel("a");
    });
    assert.equal(await cancelled, 1);
  });

  it("SQLite: committed together, or not at all", async () => {
    const { default: Database } = await import("better-sqlite3");
    const path = `${temporaryFolder()}/business.db`;
    const endpoint = ownEndpoint();
    const store: DelayedMessageStore = await readyStore(`sqlite:${path}`, endpoint);
    const strict = openStore(`sqlite:${path}`, { mode: "transactional" });
    afterThisTest(() => strict.close());
    await strict.initialize(endpoint);
    const database = new Database(path);
    afterThisTest(() => void database.close());
    database.exec("CREATE TABLE orders (id TEXT)");
    const message = delayedMessage({ routingKey: "work", body: "x", delayMs: 0 });
    for (const [end, count] of [
      ["ROLLBACK", 0],
      ["COMMIT", 1],
    ] as const) {
      database.exec("BEGIN IMMEDIATE");
      database.prepare("INSERT INTO orders VALUES ('a')").run();
      await strict.store(message, { transaction: database });
      assert.equal((await store.count()).pending, 0, "nobody sees it before");
      database.exec(end);
      const { orders } = database.prepare("SELECT count(*) AS orders FROM orders").get() as { orders: number };
      assert.deepEqual([(await store.count()).pending, orders], [count, count]);
    }
    await assert.rejects(store.store(message, { transaction: database }), /transaction: .*inside a transaction/);
    const elsewhere = new Database(`${temporaryFolder()}/other.db`);
    afterThisTest(() => void elsewhere.close());
    elsewhere.exec("BEGIN");
    await assert.rejects(store.store(message, { transaction: elsewhere }), /transaction: it is on .*other\.db/);
    await assert.rejects(strict.store(message), /mode transactional/);
  });
});

/** The same store, with its locks counted. */
function counted(store: DelayedMessageStore, locks: { taken: number; held: number }): DelayedMessageStore {
  const inLock: DelayedMessageStore["inLock"] = async (work) => {
    locks.taken++;
    locks.held++;
    try {
      return await store.inLock(work);
    } finally {
      locks.held--;
    }
  };
  return new Proxy(store, {
    get(target, property) {
      if (property === "inLock") return inLock;
      const value = Reflect.get(target, property, target) as unknown;
      return typeof value === "function" ? (value as () => void).bind(target) : value;
    },
  });
}
