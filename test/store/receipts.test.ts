import { strict as assert } from "node:assert";
import Database from "better-sqlite3";
import { Client } from "pg";
import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { DelayedMessageStore, IntakeReceipts, TakenMessage, delayedMessage } from "@rabbitmq-delay/store";
import { onEachDatabase, ownEndpoint, readyStore } from "../support/databases";

describe("receipts that a crash has left", () => {
  onEachDatabase((database) => {
    let [address, endpoint] = ["", ""];
    let store: DelayedMessageStore;
    let receipts: IntakeReceipts;
    beforeEach(async () => {
      [address, endpoint] = [await database.address(), ownEndpoint()];
      store = await readyStore(address, endpoint);
      receipts = store.receipts as IntakeReceipts;
    });
    const shift = async (ms: number): Promise<void> => {
      const table = `"${endpoint}.delayed.receipts"`;
      if (address.startsWith("sqlite:")) {
        const file = new Database(address.slice("sqlite:".length));
        file.exec(`UPDATE ${table} SET taken_at = taken_at + ${ms}`);
        file.close();
        return;
      }
      const client = new Client({ connectionString: address });
      await client.connect();
      await client.query(`UPDATE ${table} SET taken_at = taken_at + interval '${ms} ms'`);
      await client.end();
    };
    const taken = (messageId: string, earlierDeliveries: number): TakenMessage => ({
      message: delayedMessage({ routingKey: "work", body: "tick", messageId, delayMs: 3_600_000 }),
      fingerprint: "tick",
      earlierDeliveries,
    });
    const pending = async (): Promise<number> => (await store.count()).pending;

    it("are of no message that comes back later: it would be acknowledged, and never stored", async () => {
      // It runs already when the other one crashes after the broker has its acknowledgement, before its receipt is dropped.
      assert.equal(await receipts.begin("running", [], true), 0);
      assert.equal(await receipts.store([taken("a", 0)], "crashed", [], true), 0);
      await shift(-16_000);
      assert.equal(await receipts.store([taken("b", 1)], "running", ["crashed"], true), 0);
      assert.equal(await pending(), 2);
    });

    // A COMMIT that hung for longer than its client waited: the message would be stored, and in the error queue, too.
    it("of what is stored already are no fault of the message, which is not refused", async () => {
      assert.equal(await receipts.store([taken("a", 0)], "one", [], true), 0);
      await assert.rejects(receipts.store([taken("a", 0)], "two", [], false), (error: Error) => {
        assert.equal(error instanceof MessageRefusedError, false, error.message);
        return /unique|duplicate/i.test(error.message);
      });
      assert.equal(await pending(), 1);
    });

    it("are dropped by whoever runs, also where nothing comes", async () => {
      assert.equal(await receipts.store([taken("a", 0)], "crashed", [], true), 0);
      await shift(-16_000);
      await receipts.sweep();
      await shift(15_000);
      assert.equal(await receipts.store([taken("b", 1)], "running", ["crashed"], true), 0);
      assert.equal(await pending(), 2);
    });

    it("of a clock that was put back by an hour stop the intake for no more than seconds, and are recognized", async () => {
      assert.equal(await receipts.store([taken("a", 0)], "crashed", [], true), 0);
      await shift(3_600_000);
      const waitMs = await receipts.begin("running", [], true);
      assert.ok(waitMs <= 5000, `${waitMs} ms`);
      if (waitMs > 0) await receipts.begin("running", [], false);
      assert.equal(await receipts.store([taken("b", 1)], "running", [], true), 0);
      assert.equal(await pending(), 1);
      await shift(3_600_000);
      const laterMs = await receipts.store([taken("c", 2)], "next", [], true);
      assert.ok(laterMs <= 5000, `${laterMs} ms`);
    });
  });
});
