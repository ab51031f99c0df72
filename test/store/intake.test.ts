import { strict as assert } from "node:assert";
import Database from "better-sqlite3";
import * as fc from "fast-check";
import { Client } from "pg";
import { DelayedMessageStore, IntakeReceipts, NewDelayedMessage, defaultLimits } from "@rabbitmq-delay/store";
import { Intake, IntakeParts, SteadyClock } from "@rabbitmq-delay/store/testing";
import { delayedStore } from "@rabbitmq-delay/topology";
import { afterThisTest } from "../support/cleanup";
import { onEachDatabase, ownEndpoint, readyStore } from "../support/databases";
import { FakeClient, FakeIntakeQueue } from "../support/fakeIntakeQueue";

/** Longer than a session's receipts are doubted, shorter than they are kept. */
const AGED_MS = 6000;

describe("Intake", function () {
  onEachDatabase((database) => {
    /** Ages all receipts, as if a process that crashed were back after a few seconds; drops them, as if all of it were long ago. */
    const receiptsOf = async (
      address: string,
      endpoint: string,
    ): Promise<Record<"age" | "drop", () => Promise<void>>> => {
      const table = `"${endpoint}.delayed.receipts"`;
      if (address.startsWith("sqlite:")) {
        const file = new Database(address.slice("sqlite:".length));
        afterThisTest(() => void file.close());
        const run = async (sql: string): Promise<void> => void file.exec(sql);
        return {
          age: () => run(`UPDATE ${table} SET taken_at = ${Date.now() - AGED_MS}`),
          drop: () => run(`DELETE FROM ${table}`),
        };
      }
      const client = new Client({ connectionString: address });
      await client.connect();
      afterThisTest(() => client.end());
      const run = async (sql: string): Promise<void> => void (await client.query(sql));
      return {
        age: () => run(`UPDATE ${table} SET taken_at = now() - interval '${AGED_MS} ms'`),
        drop: () => run(`DELETE FROM ${table}`),
      };
    };
    const bodiesOf = async (store: DelayedMessageStore): Promise<string[]> =>
      store.inLock(async (due) => {
        const messages = await due.fetchDue(new Date(Date.now() + 1e9), 10_000);
        await due.removeAll(messages);
        return messages.map(({ body }) => body.toString()).sort();
      });

    /** Runs a process that crashes after some steps, or goes on. @returns whether it crashed */
    const live = async (
      queue: FakeIntakeQueue,
      store: DelayedMessageStore,
      {
        steps,
        random,
        losesAnswer,
        bodyMemoryBytes,
      }: { steps: number; random: () => number; losesAnswer: boolean; bodyMemoryBytes?: number },
    ): Promise<FakeClient> => {
      const client = queue.client(random);
      client.fuse.stepsLeft = steps;
      const crashed = new Promise<void>((resolve) => (client.onCrash = resolve));
      const ending = new AbortController();
      const intake = new Intake(partsOf(client, watched(store, client, losesAnswer), bodyMemoryBytes));
      const ended = intake.run(ending.signal);
      const drained = (async () => {
        while (!queue.isEmpty && !client.isCrashed) await new Promise((resolve) => setImmediate(resolve));
      })();
      await Promise.race([crashed, drained]);
      ending.abort();
      if (!client.isCrashed) {
        client.fuse.stepsLeft = Number.POSITIVE_INFINITY;
        await ended;
      }
      return client;
    };

    it("a message without an id is one row, and two equal ones are two, whenever its process crashes", async () => {
      const [address, endpoint] = [await database.address(), ownEndpoint()];
      const store = await readyStore(address, endpoint);
      const receipts = await receiptsOf(address, endpoint);
      let [crashes, counted] = [0, 0];
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom("tick", "tick", "tock", "once"), { minLength: 1, maxLength: 14 }),
          fc.array(fc.record({ steps: fc.integer({ min: 1, max: 30 }), losesAnswer: fc.boolean(), more: fc.nat(5) }), {
            maxLength: 6,
          }),
          fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
          // Bodies of more than two or three messages wait in files.
          fc.constantFrom(undefined, 10),
          async (bodies, lives, numbers, bodyMemoryBytes) => {
            const random = (): number => numbers.next().value as number;
            const queue = new FakeIntakeQueue();
            const published = [...bodies];
            bodies.forEach((body) => queue.publish(body));
            // A session that ended before it had anything can't be told from one that had all of it.
            let [isCountable, hasCrashed] = [true, false];
            for (const { steps, losesAnswer, more } of lives) {
              const client = await live(queue, store, { steps, random, losesAnswer, bodyMemoryBytes });
              if (client.isCrashed) crashes++;
              if (client.isCrashed && !client.hasTaken && hasCrashed) isCountable = false;
              hasCrashed ||= client.isCrashed;
              await receipts.age();
              for (let index = 0; index < more; index++) {
                published.push("tick");
                queue.publish("tick");
              }
            }
            await live(queue, store, { steps: Number.POSITIVE_INFINITY, random, losesAnswer: false, bodyMemoryBytes });
            const stored = await bodiesOf(store);
            await receipts.drop();
            if (isCountable) counted++;
            if (isCountable) assert.deepEqual(stored, published.sort());
            else for (const body of new Set(published)) assert.ok(count(stored, body) >= count(published, body), body);
          },
        ),
        { numRuns: 150 },
      );
      assert.ok(crashes > 100 && counted > 100, `${crashes} crashes, ${counted} runs counted`);
    });

    // A record that outlived its session swallowed an equal message that was published anew.
    it("ends when the records of what it has acknowledged are dropped, also while it drops some", async () => {
      const store = await readyStore(await database.address(), ownEndpoint());
      const receipts = store.receipts as IntakeReceipts;
      let [isDropped, release] = [false, (): void => undefined];
      const released = new Promise<void>((resolve) => (release = resolve));
      let began = (): void => undefined;
      const hasBegun = new Promise<void>((resolve) => (began = resolve));
      const settleLots = async (ids: readonly string[]): Promise<void> => {
        began();
        await released;
        await receipts.settleLots(ids);
        isDropped = true;
      };
      const slow = Object.assign(Object.create(receipts) as IntakeReceipts, { settleLots });
      const queue = new FakeIntakeQueue();
      queue.publish("remind", "order-17");
      const client = queue.client(() => 0);
      const slowly = Object.assign(Object.create(store) as DelayedMessageStore, { receipts: slow });
      const ending = new AbortController();
      const ended = new Intake(partsOf(client, slowly)).run(ending.signal);
      await hasBegun;
      ending.abort();
      setTimeout(release, 100);
      await ended;
      assert.equal(isDropped, true);
    });

    // What is cancelled would arrive; or what a customer orders anew after it would be confirmed, and nowhere.
    it("a message with an id is one row, and none when it was cancelled, whenever its process crashes; published anew it is stored", async () => {
      const [address, endpoint] = [await database.address(), ownEndpoint()];
      const store = await readyStore(address, endpoint);
      const pending = async (): Promise<number> => (await store.count()).pending;
      const onwards = { steps: Number.POSITIVE_INFINITY, random: () => 0, losesAnswer: false };
      let [committed, uncommitted] = [0, 0];
      for (let steps = 1; steps <= 12; steps++) {
        for (const losesAnswer of [false, true]) {
          const queue = new FakeIntakeQueue();
          const crash = async (): Promise<void> => {
            queue.publish("remind", "order-17");
            await live(queue, store, { steps, random: () => 0, losesAnswer });
          };
          await crash();
          const cancelled = await store.cancel("order-17");
          if (cancelled > 0) committed++;
          else uncommitted++;
          await live(queue, store, onwards);
          assert.equal(await pending(), 1 - cancelled, `crashed after ${steps} steps`);
          await store.cancel("order-17");
          // The same once more, which is another message: a crash before its commit must not make it the one before.
          await crash();
          await live(queue, store, onwards);
          assert.equal(await pending(), 1, `published anew, crashed after ${steps} steps`);
          await crash();
          await live(queue, store, onwards);
          assert.equal(await pending(), 2, `while an equal one waits, crashed after ${steps} steps`);
          await store.cancel("order-17");
        }
      }
      assert.ok(committed > 2 && uncommitted > 2, `${committed} committed, ${uncommitted} not`);
    });

    // The database restarts while a message comes that equals one that waits: it would be confirmed, and nowhere.
    it("a message that is tried again because the database was away is stored, though an equal one waits", async () => {
      const [address, endpoint] = [await database.address(), ownEndpoint()];
      const store = await readyStore(address, endpoint);
      const queue = new FakeIntakeQueue();
      const client = queue.client(() => 0);
      let refusals = 0;
      const away = Object.assign(Object.create(store) as DelayedMessageStore, {
        receipts: Object.assign(Object.create(store.receipts as IntakeReceipts) as IntakeReceipts, {
          storeLot: async (...parameters: Parameters<IntakeReceipts["storeLot"]>) => {
            if ((await store.count()).pending > 0 && refusals++ === 0) throw new Error("connect ECONNREFUSED");
            return store.receipts?.storeLot(...parameters);
          },
        }),
      });
      const ending = new AbortController();
      const ended = new Intake(partsOf(client, away)).run(ending.signal);
      for (const count of [1, 2]) {
        queue.publish("remind", "order-17");
        while ((await store.count()).pending < count || !queue.isEmpty)
          await new Promise((resolve) => setTimeout(resolve, 5));
      }
      ending.abort();
      await ended;
      assert.equal(refusals, 2);
    });

    // One unreadable message while the error queue is gone: nothing else was taken in any more, and the health was green.
    it("what neither it nor the error queue can take stays in hand and is told, while others are stored", async () => {
      const store = await readyStore(await database.address(), ownEndpoint());
      const queue = new FakeIntakeQueue();
      let isGone = true;
      const told: string[] = [];
      const publishAll = async (messages: NewDelayedMessage[]): Promise<object[]> =>
        messages.map((message) => ({ message, ...(isGone ? { error: new Error("no such exchange") } : {}) }));
      const parts = partsOf(
        queue.client(() => 0),
        store,
      );
      const intake = new Intake({
        ...parts,
        publisher: { publishAll } as unknown as IntakeParts["publisher"],
        settings: { ...parts.settings, timeToTriggerConsumeBreakerMs: 200 },
        events: {
          onStuck: ({ properties }) => told.push(`stuck ${properties.messageId}`),
          onRefused: ({ properties }) => told.push(`refused ${properties.messageId}`),
        },
      });
      const ending = new AbortController();
      const ended = intake.run(ending.signal);
      const until = async (isReached: () => boolean | Promise<boolean>): Promise<void> => {
        while (!(await isReached())) await new Promise((resolve) => setTimeout(resolve, 5));
      };
      for (const id of ["bad", "worse"]) queue.publish("x", id, { "x-delay": "soon" });
      for (let index = 0; index < 20; index++) queue.publish("x", `good ${index}`, { "x-delay": 3_600_000 });
      await until(async () => (await store.count()).pending === 20);
      await until(() => intake.breakers.refuse.isTriggered);
      assert.equal(queue.isEmpty, false);
      isGone = false;
      const refused = (): string[] => told.filter((one) => one.startsWith("refused")).sort();
      await until(() => refused().length === 2);
      assert.equal(intake.breakers.refuse.isTriggered, false);
      assert.deepEqual(refused(), ["refused bad", "refused worse"]);
      assert.ok(told.includes("stuck bad"));
      ending.abort();
      await ended;
    });

    it("messages without an id are shared by instances of which some crash: each is one row", async () => {
      const [address, endpoint] = [await database.address(), ownEndpoint()];
      const store = await readyStore(address, endpoint);
      const receipts = await receiptsOf(address, endpoint);
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 40 }),
          fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
          fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
          async (total, crashing, numbers) => {
            const random = (): number => numbers.next().value as number;
            const queue = new FakeIntakeQueue();
            const bodies = Array.from({ length: total }, (_, index) => `m${index}`);
            bodies.forEach((body) => queue.publish(body));
            const ending = new AbortController();
            const survivor = queue.client(random);
            const surviving = new Intake(partsOf(survivor, watched(store, survivor, false))).run(ending.signal);
            for (const steps of crashing) {
              await live(queue, store, { steps, random, losesAnswer: false });
              await receipts.age();
            }
            while (!queue.isEmpty) await new Promise((resolve) => setImmediate(resolve));
            ending.abort();
            await surviving;
            assert.deepEqual(await bodiesOf(store), bodies.sort());
            await receipts.drop();
          },
        ),
        { numRuns: 40 },
      );
    });
  });
});

const count = (all: string[], body: string): number => all.filter((one) => one === body).length;

/** A store of which each answer may come too late for a process that has crashed; the answer to its first commit may be lost. */
function watched(store: DelayedMessageStore, client: FakeClient, losesAnswer: boolean): DelayedMessageStore {
  let isToLose = losesAnswer;
  const receipts = store.receipts as IntakeReceipts;
  const around = async <T>(work: () => Promise<T>, commits: boolean): Promise<T> => {
    await client.step();
    const statement = work();
    client.statements.add(statement);
    const result = await statement.finally(() => client.statements.delete(statement));
    await client.step();
    if (commits && isToLose) {
      isToLose = false;
      throw new Error("the connection broke before the answer to COMMIT");
    }
    return result;
  };
  const watchedReceipts: IntakeReceipts = {
    begin: (...parameters) => around(() => receipts.begin(...parameters), false),
    store: (...parameters) => around(() => receipts.store(...parameters), true),
    settle: (...parameters) => around(() => receipts.settle(...parameters), true),
    sweep: () => receipts.sweep(),
    storeLot: (...parameters) => around(() => receipts.storeLot(...parameters), true),
    settleLots: (...parameters) => around(() => receipts.settleLots(...parameters), true),
    sweepLots: (session) => receipts.sweepLots(session),
  };
  return Object.assign(Object.create(store) as DelayedMessageStore, {
    receipts: watchedReceipts,
    storeAll: (...parameters: Parameters<DelayedMessageStore["storeAll"]>) =>
      around(() => store.storeAll(...parameters), true),
  });
}

function partsOf(client: FakeClient, store: DelayedMessageStore, bodyMemoryBytes = 1e9): IntakeParts {
  return {
    store,
    connection: client.connection() as unknown as IntakeParts["connection"],
    publisher: undefined as unknown as IntakeParts["publisher"],
    clock: new SteadyClock(),
    descriptor: delayedStore(),
    limits: defaultLimits,
    settings: {
      prefetch: 5,
      bodyMemoryBytes,
      batchSize: 3,
      timeToTriggerStoreBreakerMs: 60_000,
      timeToTriggerConsumeBreakerMs: 60_000,
    },
  };
}
