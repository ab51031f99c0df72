import { strict as assert } from "node:assert";
import { Client } from "pg";
import { DelayedMessage, delayedMessage } from "@rabbitmq-delay/store";
import { afterThisTest } from "../support/cleanup";
import { ownEndpoint, readyStore, sharedPostgres } from "../support/databases";

describe("PostgreSQL behind a pooler of transactions", () => {
  // The next transaction has another session of the server, which knows no statement of the one before: nothing would be
  // stored or delivered, or what was delivered would not be removed, and come once more.
  it("is asked nothing that a session would have to remember", async () => {
    const sent: unknown[] = [];
    const { query } = Client.prototype;
    afterThisTest(() => void (Client.prototype.query = query));
    Client.prototype.query = function (this: Client, ...parameters: unknown[]) {
      sent.push(parameters[0]);
      return (query as (...all: unknown[]) => unknown).apply(this, parameters);
    } as typeof query;
    const store = await readyStore((await sharedPostgres()).url, ownEndpoint());
    const message = (messageId: string): ReturnType<typeof delayedMessage> =>
      delayedMessage({ messageId, routingKey: "work", body: "x", delayMs: 0 });
    await store.storeAll(["a", "b"].map(message));
    const taken = { message: message("c"), fingerprint: "c", earlierDeliveries: 0 };
    await store.receipts?.storeLot([taken], { id: "lot", session: "one" });
    await store.receipts?.store([{ ...taken, message: message("d") }], "one", [], true);
    await store.next();
    await store.inLock(async (due) => {
      const [first, second] = (await due.fetchDue(new Date(), 2)) as [DelayedMessage, DelayedMessage];
      await due.fetchDue(new Date(), 1);
      await due.removeAll([first]);
      await due.incrementFailureCounts([{ message: second }]);
      await due.noteDoubts?.([second]);
    });
    await store.rescheduleAll({ messageId: "b" }, new Date());
    await store.cancelNoted?.({ messageId: "b" });
    await store.noteBroker?.({ vhost: "/" }, false);
    await store.list();
    await store.count();
    await store.receipts?.settleLots(["lot"]);
    await store.receipts?.sweepLots("two");
    await store.receipts?.sweep();
    const texts = sent.map((one) => (typeof one === "string" ? one : (one as { text: string }).text));
    assert.ok(texts.some((text) => /DELETE FROM/.test(text)) && texts.length > 10);
    assert.deepEqual(
      sent.filter((one) => (one as { name?: string }).name !== undefined),
      [],
    );
    assert.deepEqual(
      texts.filter(
        (text) => /\bSET (?!LOCAL\b)(\w+ =|SESSION)|pg_advisory_lock|PREPARE|TEMP/.test(text) && !/UPDATE/.test(text),
      ),
      [],
    );
  });
});
