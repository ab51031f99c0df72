import { strict as assert } from "node:assert";
import { join } from "node:path";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { TestStack } from "../support/stack";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 3, unitMs: 10 } as const;
const network = delayNetwork(shape);

describe("other stacks and names", () => {
  onEachBroker((broker) => {
    let vhost: string;

    beforeEach(async () => {
      vhost = await broker().management.createVhost();
    });

    const create = async (program?: string, beside?: TestStack): Promise<TestStack> => {
      const folder = program === undefined ? undefined : join(__dirname, "programs", program);
      return TestStack.create(broker(), vhost, folder, beside);
    };

    it("a service's stack binds a queue and an exchange by the descriptor alone, and goes without a trace", async () => {
      const brokerStack = await create();
      brokerStack.configure({ network: shape });
      await brokerStack.up();
      const service = await create("service", brokerStack);
      service.configure({ network: shape });
      await service.up();
      assert.deepEqual(await service.preview(), []);

      const channel = await openChannel(broker(), vhost);
      const receiver = await Receiver.on(channel, ["Billing", "work", network.parkingQueue as string]);
      const publisher = createDelayPublisher(channel, network);
      await publisher.publish("Billing", "to the queue", { delayMs: 70 });
      await publisher.publish("orders.paid", "to the exchange", { delayMs: 150 });
      await publisher.publish("orders.sent", "to nobody", { delayMs: 230 });
      const arrivals = (await receiver.until(3)).map(({ queue, message }) => `${message.content.toString()}: ${queue}`);
      const parked = `to nobody: ${network.parkingQueue}`;
      // Deliveries from different queues have no order among each other.
      assert.deepEqual(arrivals.sort(), ["to the exchange: work", parked, "to the queue: Billing"].sort());

      await service.destroy();
      assert.deepEqual(await brokerStack.preview("--refresh"), [], "the broker's stack never changed");
      const names = (await broker().management.queues(vhost)).map(({ name }) => name);
      assert.ok(!names.includes("Billing") && !names.includes("work"));
    });

    it("a component renamed with an alias keeps every resource; without one, the preview says what it would delete", async () => {
      const stack = await create("renamed");
      stack.configure({ network: { ...shape, name: "before" } });
      await stack.up();
      stack.configure({ network: { ...shape, name: "after", alias: "before" } });
      assert.deepEqual(
        (await stack.preview()).map(({ op }) => op).filter((op) => op !== "update"),
        [],
      );
      stack.configure({ network: { ...shape, name: "after" } });
      assert.ok((await stack.preview()).some(({ op, urn }) => op === "delete" && urn.includes("Queue::before-")));
    });
  });
});
