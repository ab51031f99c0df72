import { strict as assert } from "node:assert";
import { Client } from "pg";
import { DelayedMessage, PostgresDelayedMessageStore, StoreMismatchError, delayedMessage } from "@rabbitmq-delay/store";
import { afterThisTest } from "../support/cleanup";
import { ownEndpoint, sharedPostgres } from "../support/databases";

const TIMEOUT_MS = 5000;

describe("a message in hand while its broker is waited for", () => {
  it("PostgreSQL keeps it from others, however long that lasts: it is not delivered twice", async () => {
    const { url } = await sharedPostgres();
    const endpoint = ownEndpoint();
    const open = async (): Promise<PostgresDelayedMessageStore> => {
      const store = new PostgresDelayedMessageStore({ connectionString: url, idleTransactionTimeoutMs: TIMEOUT_MS });
      afterThisTest(() => store.close());
      await store.setUpInfrastructure(endpoint);
      await store.initialize(endpoint);
      return store;
    };
    const [store, other] = [await open(), await open()];
    await store.store(delayedMessage({ messageId: "a", routingKey: "work", body: "x", delayMs: 0 }));
    const admin = new Client({ connectionString: url });
    await admin.connect();
    afterThisTest(() => admin.end());
    /** Since when the transaction is open, and how long nothing was said in it, in seconds. */
    const ages = async (pid: number): Promise<{ open: number; silent: number }> => {
      const { rows } = await admin.query<{ open: number; silent: number }>(
        `SELECT extract(epoch FROM clock_timestamp() - xact_start)::float AS open,
                extract(epoch FROM clock_timestamp() - state_change)::float AS silent
         FROM pg_stat_activity WHERE pid = $1`,
        [pid],
      );
      const [found] = rows;
      assert.ok(found !== undefined, "the session is there");
      return found;
    };
    const fetched = (due: {
      fetchDue(at: Date, limit: number): Promise<DelayedMessage[]>;
    }): Promise<DelayedMessage[]> => due.fetchDue(new Date(Date.now() + 1000), 10);
    await store.inLock(async (due) => {
      const messages = await fetched(due);
      assert.equal(messages.length, 1);
      const { rows } = await admin.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE xact_start IS NOT NULL AND application_name = 'rabbitmq-delay-store'",
      );
      assert.equal(rows.length, 1);
      const pid = rows[0]?.pid as number;
      for (let longest = 0; longest < (3 * TIMEOUT_MS) / 1000;) {
        const { open: since, silent } = await ages(pid);
        assert.ok(silent < TIMEOUT_MS / 1000, `silent for ${silent} s`);
        longest = since;
        assert.deepEqual(await other.inLock(fetched), [], "nobody else gets it");
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await due.removeAll(messages);
    });
    assert.equal((await other.count()).pending, 0);
  });

  it("a time out of range is refused", () => {
    for (const idleTransactionTimeoutMs of [0, 999, 3_600_001, 1000.5, Number.NaN]) {
      assert.throws(
        () => new PostgresDelayedMessageStore({ connectionString: "postgres://h/d", idleTransactionTimeoutMs }),
        (error: Error) => error instanceof StoreMismatchError && /1000 to 3600000/.test(error.message),
      );
    }
  });
});
