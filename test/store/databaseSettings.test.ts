import { strict as assert } from "node:assert";
import { Client } from "pg";
import { DelayedMessage, delayedMessage } from "@rabbitmq-delay/store";
import { ownEndpoint, readyStore, sharedPostgres } from "../support/databases";

describe("PostgreSQL with settings of its own", () => {
  // Times were read out of their text: messages were listed for 1970, and the store slept, and failed, without knowing when one is due.
  for (const style of ["German", "SQL, DMY", "Postgres, MDY"]) {
    it(`reads times right where the DateStyle is ${style}`, async () => {
      const { url } = await sharedPostgres();
      const endpoint = ownEndpoint();
      const role = endpoint.replaceAll("-", "_");
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query(`CREATE ROLE ${role} LOGIN SUPERUSER`);
      for (const setting of [`datestyle = '${style}'`, "timezone = 'Asia/Kolkata'", "bytea_output = 'escape'"])
        await client.query(`ALTER ROLE ${role} SET ${setting}`);
      await client.end();
      const store = await readyStore(url.replace("postgres@", `${role}@`), endpoint);
      const at = new Date(Date.UTC(2030, 1, 3, 4, 5, 6, 789));
      await store.store(delayedMessage({ messageId: "a", routingKey: "work", body: Buffer.from([0, 92, 255]), at }));
      assert.deepEqual(await store.next(), at);
      assert.deepEqual((await store.count()).next, at);
      const [listed] = (await store.list({ before: new Date(at.getTime() + 1), after: at })).messages;
      assert.deepEqual([listed?.dueAt, listed?.attemptAt], [at, at]);
      assert.ok(Math.abs(Date.now() - (listed?.storedAt.getTime() ?? 0)) < 60_000);
      const [due] = await store.inLock((messages) => messages.fetchDue(at, 1));
      const { dueAt, body } = due as DelayedMessage;
      assert.deepEqual([dueAt, body], [at, Buffer.from([0, 92, 255])]);
    });
  }
});
