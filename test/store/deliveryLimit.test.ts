import { strict as assert } from "node:assert";
import Database from "better-sqlite3";
import type { ConfirmChannel } from "amqplib";
import { BrokerConnection } from "@rabbitmq-delay/store/testing";
import { consumeBatches } from "@rabbitmq-delay/store/testing";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { ownEndpoint, readyStore } from "../support/databases";
import { rounds } from "../support/length";
import { Receiver } from "../support/receive";
import { StoreProcess } from "../support/storeService";
import { temporaryFolder } from "../support/temporaryFolder";

/** More than the 20 deliveries that RabbitMQ 4 allows a message by itself. */
const CRASHES = 25;
const MESSAGES = 10;
const ids = Array.from({ length: MESSAGES }, (_, index) => `m${index}`);

describe("messages in a store's hand", function () {
  onEachBroker((broker, { isNewest }) => {
    const untilReady = async (channel: ConfirmChannel, queue: string, count: number): Promise<void> => {
      while ((await channel.checkQueue(queue)).messageCount !== count)
        await new Promise((resolve) => setTimeout(resolve, 10));
    };

    // RabbitMQ 3.10 has no limit that more crashes could reach.
    const crashes = isNewest ? CRASHES : rounds(3, CRASHES);

    it(`${crashes} crashes lose none and move none to the error queue, where the limit is lifted`, async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await channel.assertQueue("work", { durable: true });
      const [path, name] = [`${temporaryFolder()}/delayed.db`, ownEndpoint()];
      const flags = ["--store", `sqlite:${path}`, "--name", name];
      const management = ["--management", broker().node.managementUrl];
      const first = await StoreProcess.ready(broker(), vhost, [...flags, "--declare", ...management]);
      assert.equal(await first.stop(), 0);
      const isWarned = ({ log }: StoreProcess): boolean => log.some(({ msg }) => /delivery limit/.test(String(msg)));
      assert.ok(!isWarned(first), "the limit is lifted");
      const policies = await broker().management.get<{ name: string; definition: object }[]>(`policies/${vhost}`);
      const lifted = policies.map((policy) => [policy.name, policy.definition]).sort();
      const queues = ["control", "error", "intake"].map((queue) => `${name}.${queue}`);
      const expected = queues.map((queue) => [`${queue}.delivery-limit`, { "delivery-limit": -1 }]);
      assert.deepEqual(lifted, isNewest ? expected : []);

      // Nobody else can write, so that all that is taken stays in hand.
      const file = new Database(path);
      file.exec("BEGIN IMMEDIATE");
      for (const messageId of ids) {
        channel.publish(name, "work", Buffer.from("x"), { messageId, persistent: true, headers: { "x-delay": 1 } });
      }
      await channel.waitForConfirms();
      for (let crash = 0; crash < crashes; crash++) {
        const service = await StoreProcess.start(broker(), vhost, [...flags, "--no-set-up"]);
        await untilReady(channel, `${name}.intake`, 0);
        await service.kill();
        await untilReady(channel, `${name}.intake`, MESSAGES);
      }
      file.exec("ROLLBACK");
      file.close();
      await StoreProcess.ready(broker(), vhost, flags);
      const receiver = await Receiver.on(channel, ["work"]);
      const arrivals = await receiver.until(MESSAGES);
      assert.deepEqual(arrivals.map(({ message }) => message.properties.messageId as string).sort(), ids);
      assert.equal((await channel.checkQueue(`${name}.error`)).messageCount, 0);
      const store = await readyStore(`sqlite:${path}`, name);
      while ((await store.count()).pending > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    });

    it("a store that declares its queues without lifting their limit says so", async () => {
      const vhost = await broker().management.createVhost();
      const flags = ["--store", `sqlite:${temporaryFolder()}/delayed.db`, "--name", ownEndpoint(), "--declare"];
      const service = await StoreProcess.ready(broker(), vhost, flags, { RABBITMQ_MANAGEMENT_URL: "" });
      const warningOf = ({ log }: StoreProcess): string | undefined =>
        log.map(({ msg }) => String(msg)).find((msg) => msg.includes("delivery limit"));
      const warning = warningOf(service);
      assert.equal(warning !== undefined, isNewest);
      if (!isNewest) return;
      assert.match(warning ?? "", /21 crashes.*; give --management, or declare them by a stack/);
      assert.equal(await service.stop(), 0);
      const lifting = await StoreProcess.ready(broker(), vhost, [
        ...flags,
        "--management",
        broker().node.managementUrl,
      ]);
      assert.equal(warningOf(lifting), undefined, "done as it says");
      const refused = await StoreProcess.start(broker(), vhost, [
        ...flags,
        "--management",
        broker().node.managementUrl.replace("://", "://nobody:hidden@"),
      ]);
      assert.equal(await refused.ended, 2, "a refusal doesn't go by itself");
      assert.match(refused.errors, /management: the policy .* was refused \(HTTP 401/);
      assert.ok(!refused.errors.includes("hidden"));
    });

    it("a store whose policies another one keeps from applying says which: 21 crashes would move messages to the error queue", async function () {
      if (!isNewest) return;
      const vhost = await broker().management.createVhost();
      const { management } = broker();
      const put = (kind: string, priority: number, definition: object): Promise<unknown> =>
        management.call("PUT", `${kind}/${vhost}/everything`, {
          pattern: ".*",
          "apply-to": "queues",
          priority,
          definition,
        });
      const length = { "max-length": 1_000_000 };
      const name = ownEndpoint();
      const flags = ["--store", `sqlite:${temporaryFolder()}/delayed.db`, "--name", name, "--declare"];
      const run = async (): Promise<string> => {
        const service = await StoreProcess.ready(broker(), vhost, [
          ...flags,
          "--management",
          broker().node.managementUrl,
        ]);
        assert.equal(await service.stop(), 0);
        const warned = service.log.filter(({ policy }) => policy === "everything");
        const queues = warned.map(({ queue }) => String(queue)).sort();
        assert.deepEqual(
          queues,
          warned.length === 0 ? [] : ["control", "error", "intake"].map((queue) => `${name}.${queue}`),
        );
        return String(warned[0]?.msg ?? "");
      };
      await put("policies", 200, length);
      assert.match(await run(), /give that policy delivery-limit -1, or a lower priority/);
      await put("policies", 200, { ...length, "delivery-limit": -1 });
      assert.equal(await run(), "");
      await put("policies", 200, length);
      assert.notEqual(await run(), "");
      await put("policies", 1, length);
      assert.equal(await run(), "");
      // No priority helps against an operator policy.
      await put("operator-policies", 1, { "delivery-limit": 5 });
      assert.match(await run(), /operator's policy .*; take delivery-limit out of that policy, or narrow its pattern/);
      await put("operator-policies", 1, length);
      assert.equal(await run(), "");
    });

    it(`${CRASHES} orderly ends lose none and move none, whatever the limit is`, async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await channel.assertQueue("error", { durable: true });
      await channel.assertQueue("intake", {
        durable: true,
        arguments: { "x-queue-type": "quorum", "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "error" },
      });
      for (const messageId of ids) channel.sendToQueue("intake", Buffer.from("x"), { messageId, persistent: true });
      await channel.waitForConfirms();
      const connection = new BrokerConnection(`${broker().node.amqpUrl}/${vhost}`, "test");
      const limits = { prefetch: MESSAGES, batchSize: 3, bodyMemoryBytes: Number.POSITIVE_INFINITY };
      const failures: unknown[] = [];
      for (let end = 0; end < CRASHES; end++) {
        const ending = new AbortController();
        // A fault of one batch gives back all that is in hand; so does the end.
        const handle = async (): Promise<void> => {
          await untilReady(channel, "intake", 0);
          if (end % 2 === 0) ending.abort();
          throw new Error("the error queue takes nothing");
        };
        const onFault = (error: unknown): void => {
          failures.push(error);
          ending.abort();
        };
        await consumeBatches(connection, "intake", limits, { handle }, ending.signal, { onFault });
        await untilReady(channel, "intake", MESSAGES);
      }
      assert.equal(failures.length, Math.floor(CRASHES / 2));
      await connection.close();
      assert.equal((await channel.checkQueue("error")).messageCount, 0);
    });
  });
});
