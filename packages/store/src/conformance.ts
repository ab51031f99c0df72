import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { DelayedMessage, DelayedMessageInput, NewDelayedMessage, delayedMessage } from "./delayedMessage";
import type { DelayedMessageStore, TakenMessage } from "./delayedMessageStore";

/** One property that a store must have. */
export interface ConformanceTest {
  name: string;
  /** @throws AssertionError if the store lacks it */
  run: () => Promise<void>;
}

/**
 * The tests for an implementation of a store, for any test runner: `for (const { name, run } of conformanceTests(open)) it(name, run)`.
 * @param open returns a new instance on the same data each time; tests use different endpoints, and close what they open
 * @example
 * ```ts
 * import { test } from "node:test";
 * import { SqliteDelayedMessageStore, conformanceTests } from "@rabbitmq-delay/store";
 *
 * const open = () => new SqliteDelayedMessageStore({ path: "/tmp/delayed.db" });
 * for (const { name, run } of conformanceTests(open)) test(name, run);
 * ```
 */
export function conformanceTests(open: () => DelayedMessageStore | Promise<DelayedMessageStore>): ConformanceTest[] {
  return Object.entries(tests).map(([name, test]) => ({
    name,
    run: async () => {
      const bench = new Bench(open);
      try {
        await test(bench);
      } finally {
        await bench.close();
      }
    },
  }));
}

/** The endpoint of one test, and the instances that it opened. */
class Bench {
  readonly endpoint = `conformance-${randomUUID().slice(0, 13)}`;
  private readonly opened: DelayedMessageStore[] = [];

  constructor(private readonly open: () => DelayedMessageStore | Promise<DelayedMessageStore>) {}

  /** Opens an instance that is not set up. */
  async bare(): Promise<DelayedMessageStore> {
    const store = await this.open();
    this.opened.push(store);
    return store;
  }

  /** Opens an instance that is ready. */
  async store(): Promise<DelayedMessageStore> {
    const store = await this.bare();
    await store.setUpInfrastructure(this.endpoint);
    await store.initialize(this.endpoint);
    return store;
  }

  async close(): Promise<void> {
    for (const store of this.opened.splice(0)) await store.close();
  }

  async reopen(): Promise<DelayedMessageStore> {
    await this.close();
    const store = await this.bare();
    await store.initialize(this.endpoint);
    return store;
  }
}

const START = Date.UTC(2030, 0, 31, 12);
const at = (ms: number): Date => new Date(START + ms);

/** @param dueMs after {@link START} */
function message(messageId: string, dueMs: number, more: Partial<DelayedMessageInput> = {}): NewDelayedMessage {
  return delayedMessage({ routingKey: "work", body: messageId, messageId, at: at(dueMs), ...more }, {}, START);
}

const idsOf = (messages: { messageId: string }[]): string[] => messages.map(({ messageId }) => messageId);

/** Reads the messages that are due, without removing them. */
async function peek(store: DelayedMessageStore, dueMs: number): Promise<DelayedMessage[]> {
  return store.inLock((due) => due.fetchDue(at(dueMs), 1000));
}

const tests: Record<string, (bench: Bench) => Promise<void>> = {
  "is set up twice, and by several at once": async (bench) => {
    const stores = [await bench.bare(), await bench.bare(), await bench.bare()];
    await Promise.all(stores.map((store) => store.setUpInfrastructure(bench.endpoint)));
    await stores[0]?.setUpInfrastructure(bench.endpoint);
    await Promise.all(stores.map((store) => store.initialize(bench.endpoint)));
    await stores[0]?.store(message("a", 0));
    assert.equal((await stores[1]?.count(at(0)))?.pending, 1);
  },

  "refuses to start without tables": async (bench) => {
    const store = await bench.bare();
    await assert.rejects(store.initialize(bench.endpoint), /set it up/i);
  },

  "gives messages back exactly": async (bench) => {
    const store = await bench.store();
    const body = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const headers = {
      text: "größer 🐇 \0 \\ \" '",
      integer: -7,
      large: Number.MAX_SAFE_INTEGER,
      fraction: 0.1,
      none: null,
      yes: true,
      bytes: Buffer.from([0, 255]),
      list: [1, "a", { deep: Buffer.alloc(3) }],
      time: { "!": "timestamp", value: 1_700_000_000 },
    };
    const properties = {
      headers,
      contentType: "text/plain",
      priority: 9,
      expiration: "60000",
      timestamp: 5,
      type: "T",
    };
    const given = [
      message("exact", 1, { ...properties, body, exchange: "größer", routingKey: "a.b.ß" }),
      message("empty", 2, { body: Buffer.alloc(0), routingKey: "" }),
      message("large", 3, { body: Buffer.alloc(5 << 20, 7) }),
    ];
    await store.storeAll(given);
    const back = await peek(await bench.reopen(), 3);
    const plain = back.map(({ messageId, dueAt, exchange, routingKey, body: bytes, properties: props }) => ({
      messageId,
      dueAt,
      exchange,
      routingKey,
      body: bytes,
      properties: props,
    }));
    assert.deepEqual(plain, given);
    assert.deepEqual(
      back.map(({ failureCount }) => failureCount),
      [0, 0, 0],
    );
  },

  "knows when the next one is due": async (bench) => {
    const store = await bench.store();
    assert.equal(await store.next(), undefined);
    await store.storeAll([message("b", 500), message("a", 20), message("c", 1000)]);
    assert.deepEqual(await store.next(), at(20));
  },

  "fetches what is due, the earliest first": async (bench) => {
    const store = await bench.store();
    await store.storeAll([message("c", 30), message("a", 10), message("d", 40), message("b", 20)]);
    assert.deepEqual(idsOf(await peek(store, 30)), ["a", "b", "c"]);
    assert.deepEqual(await peek(store, 9), []);
    const next = await store.inLock((due) => due.fetchNextDue(at(10)));
    assert.equal(next?.messageId, "a");
    assert.equal(await store.inLock((due) => due.fetchNextDue(at(9))), undefined);
  },

  "fetches no more than asked for, each once in a lock": async (bench) => {
    const store = await bench.store();
    await store.storeAll(["a", "b", "c", "d"].map((id, index) => message(id, index, { body: Buffer.alloc(100) })));
    await store.inLock(async (due) => {
      assert.deepEqual(idsOf(await due.fetchDue(at(9), 1)), ["a"]);
      assert.deepEqual(idsOf(await due.fetchDue(at(9), 9, 150)), ["b", "c"], "up to the message that passes the bound");
      assert.deepEqual(idsOf(await due.fetchDue(at(9), 9, 1)), ["d"], "at least one");
      assert.equal(await due.fetchNextDue(at(9)), undefined);
    });
    assert.equal((await peek(store, 9)).length, 4, "what was not removed is still there");
  },

  "removes what was delivered": async (bench) => {
    const store = await bench.store();
    await store.storeAll(["a", "b", "c"].map((id) => message(id, 0)));
    await store.inLock(async (due) => {
      const [a, b] = (await due.fetchDue(at(0), 2)) as [DelayedMessage, DelayedMessage];
      await due.remove(a);
      await due.removeAll([b]);
    });
    assert.deepEqual(idsOf(await peek(await bench.reopen(), 0)), ["c"]);
  },

  "counts failures, and tries again when it is told": async (bench) => {
    const store = await bench.store();
    await store.storeAll([message("a", 0), message("b", 1)]);
    await store.inLock(async (due) => {
      const [a, b] = (await due.fetchDue(at(1), 2)) as [DelayedMessage, DelayedMessage];
      await due.incrementFailureCount(a, at(50));
      await due.incrementFailureCounts([{ message: b }]);
    });
    assert.deepEqual(idsOf(await peek(store, 49)), ["b"]);
    assert.deepEqual(await store.next(), at(1));
    const [b, a] = await peek(store, 50);
    assert.deepEqual([a?.failureCount, a?.dueAt, a?.attemptAt], [1, at(0), at(50)]);
    assert.deepEqual([b?.failureCount, b?.attemptAt], [1, at(1)]);
  },

  "tries later what it is told to, and counts no failure": async (bench) => {
    const store = await bench.store();
    await store.storeAll([message("a", 0), message("b", 1)]);
    const isDone = await store.inLock(async (due) => {
      const [first] = await due.fetchDue(at(0), 1);
      await due.postpone?.([{ message: first as DelayedMessage, retryAt: at(500) }]);
      return due.postpone !== undefined;
    });
    if (!isDone) return;
    assert.deepEqual(idsOf(await peek(store, 499)), ["b"]);
    const later = await peek(store, 500);
    assert.deepEqual(idsOf(later), ["b", "a"]);
    assert.deepEqual([later[1]?.failureCount, later[1]?.dueAt], [0, at(0)]);
  },

  "deletes what the broker took after all, unless it was rescheduled meanwhile": async (bench) => {
    const store = await bench.store();
    await store.storeAll([message("a", 0), message("b", 1), message("c", 2)]);
    const [a, b] = (await peek(store, 1)) as [DelayedMessage, DelayedMessage];
    const isDone = await store.inLock(async (due) => {
      await due.removeUnchanged?.([a, { ...b, attemptAt: at(77) }]);
      return due.removeUnchanged !== undefined;
    });
    if (isDone) assert.deepEqual(idsOf(await peek(store, 50)), ["b", "c"]);
  },

  "changes nothing when the work fails": async (bench) => {
    const store = await bench.store();
    await store.storeAll([message("a", 0), message("b", 0)]);
    const work = store.inLock(async (due) => {
      const [a, b] = (await due.fetchDue(at(0), 2)) as [DelayedMessage, DelayedMessage];
      await due.remove(a);
      await due.incrementFailureCount(b, at(99));
      throw new Error("in the middle");
    });
    await assert.rejects(work, /in the middle/);
    assert.deepEqual(
      (await peek(store, 0)).map(({ failureCount }) => failureCount),
      [0, 0],
    );
  },

  "gives each message to one only, however many work": async (bench) => {
    const stores = [await bench.store(), await bench.store(), await bench.store()];
    const ids = Array.from({ length: 300 }, (_, index) => `m${index}`);
    await stores[0]?.storeAll(ids.map((id) => message(id, 0)));
    const taken: string[] = [];
    const work = async (store: DelayedMessageStore): Promise<void> => {
      for (let count = -1; count !== 0;) {
        count = await store.inLock(async (due) => {
          const messages = await due.fetchDue(at(0), 7);
          await new Promise((resolve) => setImmediate(resolve));
          await due.removeAll(messages);
          taken.push(...idsOf(messages));
          return messages.length;
        });
      }
    };
    await Promise.all(stores.flatMap((store) => [work(store), work(store)]));
    assert.deepEqual([...taken].sort(), [...ids].sort());
  },

  "cancels by id and by filter, and says how many": async (bench) => {
    const store = await bench.store();
    const given = [
      message("a", 1, { headers: { tenant: "x", size: 1, urgent: true } }),
      message("b", 2, { headers: { tenant: "x", size: 2, urgent: false } }),
      message("c", 3, { headers: { tenant: 'y"; --', size: 1 } }),
      message("d", 4, { routingKey: "other", exchange: "e" }),
      message("e", 5),
      message("f", 6, { headers: { tenant: "z", value: "v", "a\0b": 1, "!": "rabbitmq-delay.bytes" } }),
    ];
    await store.storeAll(given);
    assert.equal(await store.cancel("nobody"), 0);
    assert.equal(await store.cancelAll({ headers: { tenant: "z", value: "v" } }), 1, "whatever names are beside it");
    assert.equal(await store.cancel("a"), 1);
    assert.equal(await store.cancelAll({ headers: { tenant: "x", size: 1 } }), 0, "all conditions together");
    assert.equal(await store.cancelAll({ headers: { tenant: "x", urgent: true } }), 0);
    assert.equal(await store.cancelAll({ headers: { tenant: "x", urgent: false } }), 1);
    assert.equal(await store.cancelAll({ headers: { size: "1" } }), 0, "a text is no number");
    assert.equal(await store.cancelAll({ headers: { tenant: 'y"; --' } }), 1);
    assert.equal(await store.cancelAll({ exchange: "e", routingKey: "other", before: at(5), after: at(4) }), 1);
    assert.deepEqual(idsOf(await peek(store, 9)), ["e"]);
    for (const filter of [{}, { headers: {} }, { messageId: undefined }]) {
      await assert.rejects(store.cancelAll(filter), /filter/, "an empty filter would be every message");
      await assert.rejects(store.rescheduleAll(filter, at(0)), /filter/);
    }
    assert.equal((await store.count()).pending, 1);
  },

  "counts apart what it cancelled and may have been delivered": async (bench) => {
    const store = await bench.store();
    if (store.cancelNoted === undefined) return;
    await store.storeAll([message("sent", 0), message("waits", 1)]);
    await store.inLock(async (due) => {
      const [first] = await due.fetchDue(at(0), 1);
      await due.noteDoubts?.([first as DelayedMessage]);
    });
    // A rescheduled message may come at the old time and at the new one.
    if (store.rescheduleNoted !== undefined)
      assert.deepEqual(await store.rescheduleNoted({ routingKey: "work" }, at(5)), { count: 1, inDoubt: 1 });
    assert.deepEqual(await store.cancelNoted({ routingKey: "work" }), { count: 1, inDoubt: 1 });
    assert.equal((await store.count()).pending, 0);
  },

  "tells which broker its messages are for, until they move": async (bench) => {
    const store = await bench.store();
    if (store.noteBroker === undefined) return;
    assert.equal(await store.notedBroker?.(), undefined);
    assert.deepEqual(await store.noteBroker({ vhost: "a" }, false), { vhost: "a" });
    assert.deepEqual(await store.notedBroker?.(), { vhost: "a" });
    assert.deepEqual(await store.noteBroker({ vhost: "b", cluster: "of b" }, false), { vhost: "a" });
    assert.deepEqual(await store.noteBroker({ vhost: "a", cluster: "of a" }, false), { vhost: "a", cluster: "of a" });
    assert.deepEqual(await store.noteBroker({ vhost: "a", cluster: "new" }, false), { vhost: "a", cluster: "of a" });
    assert.deepEqual(await store.noteBroker({ vhost: "b" }, true), { vhost: "b" });
  },

  "does not say that it cancelled what is being delivered": async (bench) => {
    const [store, other] = [await bench.store(), await bench.store()];
    await store.store(message("a", 0));
    let cancelled: Promise<number> | undefined;
    await store.inLock(async (due) => {
      const messages = await due.fetchDue(at(0), 1);
      cancelled = other.cancel("a");
      // If it answered now, the answer would be wrong.
      await Promise.race([cancelled, new Promise((resolve) => setTimeout(resolve, 50))]);
      await due.removeAll(messages);
    });
    assert.equal(await cancelled, 0);
  },

  "gives messages another time, and a new start": async (bench) => {
    const store = await bench.store();
    await store.storeAll([message("a", 10), message("b", 20), message("c", 30)]);
    await store.inLock(async (due) =>
      due.incrementFailureCounts([{ message: (await due.fetchDue(at(10), 1))[0] as DelayedMessage }]),
    );
    assert.equal(await store.reschedule("a", at(40)), 1);
    assert.equal(await store.rescheduleAll({ after: at(30), before: at(31) }, at(5)), 1);
    assert.equal(await store.reschedule("nobody", at(5)), 0);
    const messages = await peek(store, 40);
    assert.deepEqual(idsOf(messages), ["c", "b", "a"]);
    assert.deepEqual([messages[2]?.dueAt, messages[2]?.failureCount], [at(40), 0]);
    assert.deepEqual(await store.next(), at(5));
  },

  "lists in pages, each message once": async (bench) => {
    const store = await bench.store();
    const given = Array.from({ length: 25 }, (_, index) => message(`m${index}`, Math.floor(index / 10), { type: "T" }));
    await store.storeAll(given);
    const listed: string[] = [];
    let after: string | undefined;
    let pages = 0;
    do {
      const page = await store.list({}, { limit: 10, ...(after === undefined ? {} : { after }) });
      listed.push(...idsOf(page.messages));
      after = page.next;
      pages++;
    } while (after !== undefined);
    assert.equal(pages, 3);
    assert.deepEqual(listed, idsOf(given));
    const { messages, next } = await store.list({ messageId: "m7" });
    assert.equal(next, undefined);
    assert.deepEqual([messages[0]?.bodyBytes, messages[0]?.properties.type, messages[0]?.dueAt], [2, "T", at(0)]);
    assert.ok(messages[0]?.storedAt instanceof Date);
    assert.equal((await store.list({ minimumFailures: 1 })).messages.length, 0);
    for (const limit of [0, 1.5, 1001]) await assert.rejects(store.list({}, { limit }), /limit/);
    await assert.rejects(store.list({}, { after: "nonsense" }), /after/);
  },

  counts: async (bench) => {
    const store = await bench.store();
    assert.deepEqual(await store.count(at(0)), { pending: 0, due: 0, failed: 0 });
    await store.storeAll([message("a", 1), message("b", 2), message("c", 3)]);
    await store.inLock(async (due) =>
      due.incrementFailureCount((await due.fetchDue(at(1), 1))[0] as DelayedMessage, at(9)),
    );
    assert.deepEqual(await store.count(at(2)), { pending: 3, due: 1, failed: 1, next: at(2) });
  },

  "stores nothing of a batch that fails": async (bench) => {
    const store = await bench.store();
    const broken = { ...message("b", 0), body: undefined as unknown as Buffer };
    await assert.rejects(store.storeAll([message("a", 0), broken]));
    assert.equal((await store.count()).pending, 0);
  },

  "recognizes what was delivered again by its lot, where it has lots": async (bench) => {
    const store = await bench.store();
    const { receipts } = store;
    if (receipts === undefined) return;
    const taken = (messageId: string, earlierDeliveries: number, fingerprint = messageId): TakenMessage => ({
      message: message(messageId, 5),
      fingerprint,
      earlierDeliveries,
    });
    const idsLeftOut = async (some: TakenMessage[], id: string, session: string): Promise<string[]> =>
      idsOf((await receipts.storeLot(some, { id, session })).map((one) => one.message));
    const pending = async (): Promise<number> => (await store.count()).pending;
    const first = [taken("a", 0), taken("b", 0), taken("b", 0)];
    assert.deepEqual(await idsLeftOut(first, "lot 1", "one"), []);
    assert.equal(await store.cancel("a"), 1);
    assert.deepEqual(await idsLeftOut(first, "lot 1", "one"), []);
    assert.equal(await pending(), 2, "tried again because its answer was lost: neither twice, nor what was cancelled");
    assert.deepEqual(
      await idsLeftOut([taken("b", 1)], "lot 2", "one"),
      [],
      "a session's own are acknowledged: another",
    );
    await receipts.settleLots(["lot 2"]);
    assert.equal(await pending(), 3);
    const again = [taken("a", 1), taken("b", 1), taken("b", 1), taken("b", 1), taken("b", 0), taken("a", 1, "at 7")];
    assert.deepEqual(
      await idsLeftOut(again, "lot 3", "two"),
      ["a"],
      "of equal ones, nobody can tell which were stored",
    );
    assert.deepEqual(await idsLeftOut(again, "lot 3", "two"), [], "the answer may be lost here, too");
    assert.equal(await pending(), 8, "another time is another message, and what nobody had before is new");
    assert.deepEqual(await idsLeftOut([taken("a", 2)], "lot 4", "three"), ["a"], "it is the new lot's now");
    await receipts.settleLots(["lot 1", "lot 3", "lot 4"]);
    assert.deepEqual(await idsLeftOut([taken("a", 1), taken("b", 1)], "lot 5", "four"), []);
    assert.equal(await pending(), 10, "what the broker has forgotten does not come back: what is equal is new");
    await receipts.sweepLots("five");
    assert.deepEqual(await idsLeftOut([taken("a", 1)], "lot 6", "five"), ["a"], "it may still come back");
    const broken = { ...taken("c", 0), message: { ...message("c", 0), body: undefined as unknown as Buffer } };
    await assert.rejects(receipts.storeLot([taken("d", 0), broken], { id: "lot 7", session: "five" }));
    assert.equal(await pending(), 10, "all or nothing");
  },

  "recognizes what was delivered again by its receipt, where it has receipts": async (bench) => {
    const store = await bench.store();
    const { receipts } = store;
    if (receipts === undefined) return;
    const taken = (messageId: string, fingerprint: string, earlierDeliveries: number): TakenMessage => ({
      message: message(messageId, 5, { body: fingerprint }),
      fingerprint,
      earlierDeliveries,
    });
    const pending = async (): Promise<number> => (await store.count()).pending;
    assert.equal(await receipts.begin("one", [], true), 0);
    const first = [taken("a", "x", 0), taken("b", "x", 0), taken("c", "y", 0)];
    for (let times = 0; times < 2; times++) {
      assert.equal(await receipts.store(first, "one", [], true), 0);
      assert.equal(await pending(), 3, "equal ones are two, and a lost answer adds none");
    }
    // The session crashed, and nobody knows yet whether it goes on.
    const waitMs = await receipts.begin("two", [], true);
    assert.ok(waitMs > 0, "a session that may go on is waited for");
    assert.equal(await receipts.begin("two", ["one"], true), 0);
    const again = [taken("d", "x", 1), taken("e", "x", 1), taken("g", "y", 0), taken("h", "z", 1)];
    assert.equal(await receipts.store(again, "two", ["one"], true), 0);
    assert.equal(await pending(), 5, "two of x are known; one that nobody had before, and z are not");
    await receipts.settle("two");
    assert.equal(await receipts.begin("three", ["one", "two"], true), 0);
    assert.equal(await receipts.store([taken("i", "x", 2)], "three", ["one", "two"], true), 0);
    assert.equal(await pending(), 6, "a receipt that was settled is of no message any more");
    // A session that existed before has begun no more often than the message was delivered.
    assert.equal(await receipts.store([taken("l", "w", 1)], "three", ["one", "two"], true), 0);
    assert.equal(await receipts.store([taken("m", "w", 1)], "two", ["three"], true), 0);
    assert.equal(await pending(), 8, "a message that was delivered no more often than that of the receipt is another");
    assert.equal(await receipts.store([taken("n", "v", 0), taken("o", "v", 0)], "four", [], true), 0);
    const earlier = ["one", "two", "three", "four"];
    assert.equal(await receipts.begin("five", earlier, true), 0);
    const more = [taken("p", "v", 1), taken("q", "v", 1), taken("r", "v", 1)];
    assert.equal(await receipts.store(more, "five", earlier, true), 0);
    assert.equal(await pending(), 13, "of equal ones more come back than were stored, and nobody can tell which");
    const broken = { ...taken("k", "n", 0), message: { ...message("k", 0), body: undefined as unknown as Buffer } };
    await assert.rejects(receipts.store([taken("j", "n", 0), broken], "three", [], true));
    assert.equal(await pending(), 13, "all or nothing");
  },

  "keeps endpoints apart": async (bench) => {
    const store = await bench.store();
    const other = await bench.bare();
    await other.setUpInfrastructure(`${bench.endpoint}-2`);
    await other.initialize(`${bench.endpoint}-2`);
    await store.store(message("a", 0));
    assert.equal((await other.count()).pending, 0);
  },

  "tells of what another instance stored, where it can": async (bench) => {
    const [store, other] = [await bench.store(), await bench.store()];
    if (store.onStored === undefined) return void assert.ok(store.pollMs, "else it has to be asked again and again");
    const told = new Promise<Date>((resolve) => {
      store.onStored?.((attemptAt) => {
        if (attemptAt.getTime() === at(77).getTime()) resolve(attemptAt);
      });
    });
    let isTold = false;
    void told.then(() => (isTold = true));
    // Messages stored before it listens are not reported.
    for (let index = 0; !isTold; index++) {
      await other.store(message(`a${index}`, 77));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await told;
  },
};
