import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { delayNetwork, delayedStore } from "@rabbitmq-delay/topology";
import { planStoreAccess } from "@rabbitmq-delay/topology/stack";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { shape } from "../support/gatewayShop";
import { ServiceHealth, StoreProcess } from "../support/storeService";
import { temporaryFolder } from "../support/temporaryFolder";

const quick = { RABBITMQ_DELAY_STORE_TIME_TO_TRIGGER_CONSUME_BREAKER_MS: "500" };

describe("a store that can take nothing in", () => {
  onEachBroker((broker) => {
    const addressOf = (): string => `sqlite:${temporaryFolder()}/delayed.db`;

    it("with a refused login: it ends; refused later on, its health is red though nothing is due, and it ends where it was told to", async () => {
      const vhost = await broker().management.createVhost();
      const [{ node, management }, user] = [broker(), `store-${randomUUID().slice(0, 8)}`];
      const limited = { management, node: { ...node, amqpUrl: loginOf(node.amqpUrl, user, "hidden") } };
      const flags = (): string[] => ["--store", addressOf(), "--declare"];
      const refused = await StoreProcess.start(limited, vhost, flags(), quick);
      assert.equal(await refused.ended, 3);
      assert.match(refused.errors, /the broker at \S+ refuses the user or the password/);
      assert.ok(!refused.log.some(({ msg }) => msg === "running"));
      const listing = await runCommand(["store", "list", "--amqp", `${limited.node.amqpUrl}/${vhost}`]);
      assert.deepEqual([listing.code, listing.err], [3, refused.errors]);
      await management.call("PUT", `users/${user}`, { password: "hidden", tags: "" });
      await management.call("PUT", `permissions/${vhost}/${user}`, { configure: ".*", write: ".*", read: ".*" });
      const service = await StoreProcess.ready(limited, vhost, flags(), quick);
      const ending = await StoreProcess.ready(limited, vhost, [...flags(), "--exit-on-critical"], quick);
      // The broker closes the connections of a user that is deleted.
      await management.call("DELETE", `users/${user}`);
      await service.untilHealth(({ status, triggered }) => status === "red" && triggered.includes("consume"));
      assert.equal(await service.statusOf("/healthz"), 503);
      assert.equal(await ending.ended, 3);
      assert.match(ending.errors, /nothing but failures of (consume|control): .*(403|ACCESS.REFUSED)/i);
      assert.ok(!JSON.stringify([refused.log, refused.errors, service.log]).includes("hidden"));
    });

    it("asked with a refused login or a wrong vhost: store list and store cancel end as publish does", async () => {
      const vhost = await broker().management.createVhost();
      const { node } = broker();
      const network = join(temporaryFolder(), "network.json");
      const asked = [
        ["list"],
        ["cancel", "--message-id", "m"],
        ["reschedule", "--message-id", "m", "--delay", "1s"],
        ["stats"],
      ];
      for (const [amqp, at, reason] of [
        [`${loginOf(node.amqpUrl, "nobody", "hidden")}/${vhost}`, vhost, /refuses the user or the password/],
        [`${node.amqpUrl}/${vhost}-gone`, `${vhost}-gone`, /refuses vhost \S+-gone: there is none of that name/],
      ] as const) {
        writeFileSync(network, JSON.stringify(delayNetwork({ ...shape, vhost: at })));
        const message = ["--destination", "work", "--delay", "1s", "--body", "x"];
        const publishing = await runCommand(["publish", "--network", network, "--amqp", amqp, ...message]);
        assert.equal(publishing.code, 3);
        assert.match(publishing.err, reason);
        for (const verb of asked) {
          const { code, err, out } = await runCommand(["store", ...verb, "--amqp", amqp]);
          assert.deepEqual([code, err, out], [3, publishing.err, ""], verb[0]);
          assert.ok(!err.includes("hidden"));
        }
      }
    });

    it("without the right to read its control queue: its health is red, and green again when it may", async () => {
      const vhost = await broker().management.createVhost();
      const [{ node, management }, user] = [broker(), `store-${randomUUID().slice(0, 8)}`];
      const store = delayedStore({});
      const first = await StoreProcess.ready(broker(), vhost, ["--store", addressOf(), "--declare"]);
      assert.equal(await first.stop(), 0);
      await management.call("PUT", `users/${user}`, { password: "x", tags: "" });
      const { configure, write, read } = planStoreAccess(store);
      const grant = (readable: string): Promise<unknown> =>
        management.call("PUT", `permissions/${vhost}/${user}`, { configure, write, read: readable });
      await grant("^delayed\\.intake$");
      const limited = { management, node: { ...node, amqpUrl: loginOf(node.amqpUrl, user, "x") } };
      const service = await StoreProcess.start(limited, vhost, ["--store", addressOf()], quick);
      await service.untilHealth(({ triggered }) => triggered.includes("control"));
      await grant(read);
      await service.untilHealth(({ status, isReady }) => status === "green" && isReady);
    });

    // Only more than thirty in half a minute turned it red.
    it("with a due message that neither its queue nor the error queue takes: it is unhealthy at once, and until the error queue is there", async () => {
      const vhost = await broker().management.createVhost();
      const service = await StoreProcess.ready(broker(), vhost, ["--store", addressOf(), "--declare"]);
      const channel = await openChannel(broker(), vhost);
      await channel.deleteQueue("delayed.error");
      channel.publish("delayed", "nobody", Buffer.from("x"), { headers: { "x-delay": 0 }, persistent: true });
      await service.untilMetric("stuck_total", 1);
      const { status, triggered, reasons, isReady } = (await service.health()) as ServiceHealth;
      assert.deepEqual([status, triggered, Object.keys(reasons), isReady], ["red", [], ["recovery"], true]);
      assert.match(reasons.recovery as string, /no queue is bound/);
      assert.deepEqual([await service.statusOf("/healthz"), await service.statusOf("/healthz?triggered")], [503, 200]);
      await channel.assertQueue("delayed.error", { durable: true, arguments: { "x-queue-type": "quorum" } });
      await channel.bindQueue("delayed.error", "delayed.error", "");
      await service.untilHealth(({ status }) => status === "green");
      assert.equal((await channel.checkQueue("delayed.error")).messageCount, 1);
    });

    // It was stored and acknowledged, so nothing was stored once more, by which alone the store was ready again.
    it("with a message that it stored, and whose record it could not drop at first: it is ready when it has", async () => {
      const vhost = await broker().management.createVhost();
      const file = join(temporaryFolder(), "delayed.db");
      const service = await StoreProcess.ready(broker(), vhost, ["--store", `sqlite:${file}`, "--declare"]);
      const database = new Database(file);
      afterThisTest(() => void database.close());
      database.exec(`CREATE TRIGGER "held" BEFORE DELETE ON "delayed.delayed.receipts"
        BEGIN SELECT RAISE(ABORT, 'held up'); END`);
      const channel = await openChannel(broker(), vhost);
      // Without an id, so that a record is kept until the broker has the acknowledgement.
      channel.publish("delayed", "work", Buffer.from("x"), { headers: { "x-delay": 600_000 }, persistent: true });
      await service.untilMetric("stored_total", 1);
      await service.untilHealth(({ isReady }) => !isReady);
      database.exec('DROP TRIGGER "held"');
      await service.untilHealth(({ status, isReady }) => status === "green" && isReady);
      assert.ok(service.log.some(({ reason }) => reason === "held up"));
    });
  });
});

function loginOf(amqpUrl: string, user: string, password: string): string {
  return `amqp://${user}:${password}@${new URL(amqpUrl).host}`;
}
