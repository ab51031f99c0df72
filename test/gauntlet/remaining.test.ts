import { strict as assert } from "node:assert";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { remainingIn } from "./execute";
import type { Round } from "./workload/part";

describe("what queues still hold at the end of a gauntlet's round", () => {
  onEachBroker((broker) => {
    // A failed answer counted as an empty queue: what was left behind one that had just gone, or unseen, passed every round.
    it("is asked of each, past one that has gone, and what can't be asked is not empty", async () => {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await channel.assertQueue("kept", { durable: true });
      channel.sendToQueue("kept", Buffer.from("x"), { persistent: true });
      await channel.waitForConfirms();
      const part = { name: "a", vhost };
      const round = (call: () => Promise<unknown>): Round =>
        ({ broker: { api: { call }, amqpUrl: (name: string) => `${node.amqpUrl}/${name}` } }) as unknown as Round;
      const listed = round(() => Promise.resolve([{ name: "gone" }, { name: "kept", messages: 0 }]));
      assert.deepEqual(await remainingIn(listed, [part], false), { "a: kept": 1 });
      const silent = round(() => Promise.reject(new Error("HTTP 500")));
      assert.deepEqual(await remainingIn(silent, [part], false), { "a: queues that can't be asked (HTTP 500)": 1 });
    });
  });
});
