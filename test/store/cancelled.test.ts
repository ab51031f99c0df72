import { strict as assert } from "node:assert";
import type { ConfirmChannel } from "amqplib";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { onEachDatabase, ownEndpoint, readyStore } from "../support/databases";
import { StoreProcess, runCommand } from "../support/storeService";

describe("a cancelled message that the broker delivers again", () => {
  onEachBroker((broker) => {
    onEachDatabase((database) => {
      it("does not arrive; a new one with its id does", async () => {
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
        // As after a crash between commit and acknowledgement: what was committed comes once more.
        await publish("order-17");
        const holding = await openChannel(broker(), vhost);
        await takeAndLose(holding, `${name}.intake`);
        await StoreProcess.ready(broker(), vhost, flags);
        await publish("last");
        const store = await readyStore(address, name);
        const idsOf = async (): Promise<string[]> =>
          (await store.list()).messages.map(({ messageId }) => messageId).sort();
        while (!(await idsOf()).includes("last")) await pause();
        assert.deepEqual(await idsOf(), ["last"], "cancelled means that it will not arrive");
        await publish("order-17");
        while (!(await idsOf()).includes("order-17")) await pause();
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
