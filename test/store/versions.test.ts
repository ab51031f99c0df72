import { strict as assert } from "node:assert";
import Database from "better-sqlite3";
import { Client } from "pg";
import { openStore } from "@rabbitmq-delay/store";
import { afterThisTest } from "../support/cleanup";
import { onEachDatabase, ownEndpoint } from "../support/databases";
import { runCommand } from "../support/command";
import { wayOut } from "../support/waysOut";

describe("tables of another version", () => {
  onEachDatabase((database) => {
    /** Runs SQL beside the store. */
    const sql = async (address: string, statement: string): Promise<void> => {
      if (address.startsWith("sqlite:")) {
        const file = new Database(address.slice("sqlite:".length));
        file.exec(statement);
        file.close();
        return;
      }
      const client = new Client({ connectionString: address });
      await client.connect();
      await client.query(statement);
      await client.end();
    };

    it("newer ones are refused by all that would use them, older ones until they are set up again", async () => {
      const [address, endpoint] = [await database.address(), ownEndpoint()];
      const store = openStore(address);
      afterThisTest(() => store.close());
      await store.setUpInfrastructure(endpoint);
      const steps = `"${endpoint}.delayed.migrations"`;
      const takenAt = address.startsWith("sqlite:") ? "0" : "now()";
      await sql(address, `INSERT INTO ${steps} (name, taken_at) VALUES ('9999-of-the-future', ${takenAt})`);
      const newer = /is of a newer version, it has 9999-of-the-future, which this release does not know/;
      await assert.rejects(store.initialize(endpoint), newer);
      await assert.rejects(store.setUpInfrastructure(endpoint), newer);
      const stats = await runCommand(["store", "stats", "--store", address, "--name", endpoint]);
      assert.equal(stats.code, 2);
      assert.match(stats.err, newer);

      await sql(address, `DELETE FROM ${steps}`);
      await assert.rejects(
        store.initialize(endpoint),
        /is of an older version, it lacks 0001-messages; set it up again/,
      );
    });

    it("the command sets up once and again, and a role without that right can do the rest", async () => {
      const [address, endpoint] = [await database.address(), ownEndpoint()];
      const counts = (): ReturnType<typeof runCommand> =>
        runCommand(["store", "stats", "--store", address, "--name", endpoint, "--json"]);
      assert.match((await counts()).err, wayOut("refusal-set-up"));
      for (let times = 0; times < 2; times++) {
        const { code, out } = await runCommand(["store", "set-up", "--store", address, "--name", endpoint]);
        assert.deepEqual([code, out], [0, "the tables are ready\n"]);
      }
      assert.equal((await counts()).code, 0);
      if (!address.startsWith("postgres:")) return;
      const role = endpoint.replaceAll("-", "_");
      await sql(
        address,
        `CREATE ROLE ${role} LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON "${endpoint}.delayed" TO ${role};
         GRANT SELECT ON "${endpoint}.delayed.migrations" TO ${role}`,
      );
      const own = address.replace("postgres@", `${role}@`);
      const { code, out } = await runCommand(["store", "stats", "--store", own, "--name", endpoint, "--json"]);
      assert.deepEqual([code, JSON.parse(out)], [0, { pending: 0, due: 0, failed: 0 }]);
      // The right to ask is not the right to run it: without the tables beside, it would be green and take nothing in.
      const flags = ["--no-set-up", "--amqp", "amqp://127.0.0.1:1", "--http", "off"];
      const running = await runCommand(["store", "run", "--store", own, "--name", endpoint, ...flags]);
      assert.equal(running.code, 2);
      assert.match(
        running.err,
        new RegExp(`the role ${role} may not use .*receipts.*GRANT SELECT, INSERT, UPDATE, DELETE ON .* TO ${role}`),
      );
      assert.match(running.err, wayOut("refusal-grant"));
      await sql(address, /GRANT .*? TO \w+/.exec(running.err)?.[0] ?? "");
      const granted = openStore(own);
      afterThisTest(() => granted.close());
      await granted.initialize(endpoint);
      await granted.checkIntake?.();
      await sql(
        address,
        `DROP TABLE "${endpoint}.delayed.receipts", "${endpoint}.delayed.lots";
         DELETE FROM "${endpoint}.delayed.migrations" WHERE name <> '0001-messages'`,
      );
      assert.match((await counts()).err, wayOut("refusal-set-up-again"));
      assert.equal((await runCommand(["store", "set-up", "--store", address, "--name", endpoint])).code, 0);
      assert.equal((await counts()).code, 0);
      const upgraded = openStore(own);
      afterThisTest(() => upgraded.close());
      await upgraded.initialize(endpoint);
      await upgraded.checkIntake?.();
      // Where an administrator takes the steps, the tables that they add were his, and their service was refused.
      await sql(address, `ALTER TABLE "${endpoint}.delayed" OWNER TO ${role}`);
      await sql(
        address,
        `DROP TABLE "${endpoint}.delayed.lots", "${endpoint}.delayed.broker";
         DELETE FROM "${endpoint}.delayed.migrations" WHERE name > '0003'`,
      );
      assert.equal((await runCommand(["store", "set-up", "--store", address, "--name", endpoint])).code, 0);
      await upgraded.checkIntake?.();
      // A role that may not create tables never started, where another one had set them up.
      assert.equal((await runCommand(["store", "set-up", "--store", own, "--name", endpoint])).code, 0);
      const refused = await runCommand(["store", "set-up", "--store", own, "--name", `${endpoint}x`]);
      assert.equal(refused.code, 3);
      assert.match(refused.err, /permission denied/);
    });
  });
});
