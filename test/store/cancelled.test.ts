import { strict as assert } from "node:assert";
import type { ConfirmChannel } from "amqplib";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { onEachDatabase, ownEndpoint, readyStore } from "../support/databases";
import { runCommand } from "../support/command";
import { StoreProcess } from "../support/storeService";

describe("a message published anew after a cancel", () => {
  onEachBroker((broker) => {
    onEachDatabase((database) => {
      // The one before was acknowledged long ago: taken for it, the new one would be confirmed, and nowhere.
      it("is stored, though a store ends while it has it in hand, and is equal in all", async () => {
        const vhost = await broker().management.createVhost();
        const [address, name] = [await database.address(), ownEndpoint()];
        const flags = ["--store", address, "--name", name, "--declare"];
        const channel = await openChannel(broker(), vhost);
        const publish = async (messageId: string): Promise<void> => {
          const options = { messageId, persistent: true, headers: { "x-delay": 3_600_000 } };
          channel.publish(name, "work", Buffer.from(messageId), options);
          await channel.waitForConfirms();
        };
        const first = await StoreProcess.ready(broker(), vhost, flags);
        await publish("order-17");
        await first.untilMetric("stored_total", 1);
        const cancelled = await runCommand([
          "store",
          "cancel",
          "--store",
          address,
          "--name",
          name,
          "--message-id",
          "order-17",
        ]);
        assert.match(cancelled.out, /cancelled 1 message/);
        assert.equal(await first.stop(), 0);
        await publish("order-17");
        const holding = await openChannel(broker(), vhost);
        await takeAndLose(holding, `${name}.intake`);
        await StoreProcess.ready(broker(), vhost, flags);
        const store = await readyStore(address, name);
        while ((await store.list()).messages.length === 0) await pause();
        await publish("order-17");
        while ((await store.list()).messages.length === 1) await pause();
        const ids = (await store.list()).messages.map(({ messageId }) => messageId);
        assert.deepEqual(ids, ["order-17", "order-17"], "a publisher may use an id again");
      });
    });
  });
});

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

async function takeAndLose(channel: ConfirmChannel, queue: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    channel.consume(queue, () => resolve()).catch(reject);
  });
  await channel.close();
}
