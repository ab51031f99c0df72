import { strict as assert } from "node:assert";
import { Client } from "pg";
import { delayedMessage } from "@rabbitmq-delay/store";
import { afterThisTest } from "../support/cleanup";
import { ownEndpoint, readyStore, sharedPostgres } from "../support/databases";

describe("a change that PostgreSQL is asked for", () => {
  // A cancel that waited for rows in hand failed after a minute, and was done when they were let go: who asked was told that nothing was.
  it("is given up by the server before it is given up by who asked", async () => {
    const sent: { client: Client; text: string }[] = [];
    const { query } = Client.prototype;
    afterThisTest(() => void (Client.prototype.query = query));
    Client.prototype.query = function (this: Client, ...parameters: unknown[]) {
      const [given] = parameters as [string | { text: string }];
      sent.push({ client: this, text: typeof given === "string" ? given : given.text });
      return (query as (...all: unknown[]) => unknown).apply(this, parameters);
    } as typeof query;
    const store = await readyStore((await sharedPostgres()).url, ownEndpoint());
    await store.store(delayedMessage({ messageId: "a", routingKey: "work", body: "x", delayMs: 1000 }));
    sent.splice(0);
    assert.equal(await store.reschedule("a", new Date()), 1);
    assert.equal(await store.cancel("a"), 1);
    const changes = sent.flatMap(({ text, client }, index) => (/DELETE|UPDATE/.test(text) ? [{ client, index }] : []));
    assert.equal(changes.length, 2);
    for (const { client, index } of changes) {
      const begin = sent[index - 1];
      assert.equal(begin?.client, client);
      const [, timeoutMs] = /^BEGIN;.*SET LOCAL statement_timeout = (\d+);/s.exec(begin?.text ?? "") ?? [];
      const { query_timeout: patienceMs } = (client as unknown as { connectionParameters: { query_timeout: number } })
        .connectionParameters;
      assert.ok(Number(timeoutMs) > 0 && Number(timeoutMs) < patienceMs, `${timeoutMs} of ${patienceMs} ms`);
    }
  });
});
