import { strict as assert } from "node:assert";
import { onEachBroker } from "../support/brokers";
import { CeleryWorker, sendTasks } from "../support/celery";
import { assertNotEarly } from "../support/clock";
import { openChannel } from "../support/connect";
import { rounds } from "../support/length";
import { Receiver } from "../support/receive";
import { StackConfig, TestStack } from "../support/stack";

const TASKS = rounds(2000, 20_000);
/** Longer than sending all of them and an update take on a busy machine. */
const SHORTEST_SECONDS = rounds(90, 240);

describe("a network that Celery has declared", function () {
  onEachBroker((broker) => {
    const config: StackConfig = {
      network: { preset: "celery", adopt: true },
      endpoints: [{ name: "orders", client: "celery", adopt: true }],
    };

    it("comes under a stack with its queue; what waits arrives, once and not early", async () => {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const url = `${node.amqpUrl}/${vhost}`;
      const first = await CeleryWorker.start({ url });
      await first.until(/ ready\./);
      await first.stop();
      const countdowns = Array.from(
        { length: TASKS },
        (_, index) => [`order-${index}`, SHORTEST_SECONDS + (index % 7)] as const,
      );
      const dueMs = await sendTasks({ url }, Object.fromEntries(countdowns));
      assert.equal(dueMs.size, TASKS);

      const stack = await TestStack.create(broker(), vhost);
      stack.configure(config);
      const { output } = await stack.up();
      const arrived = (await management.queues(vhost)).find(({ name }) => name === "orders");
      assert.equal(arrived?.messages ?? 0, 0, "the stack came while all of them waited");
      assert.match(
        output,
        /network celery_delayed is adopted: 28 queues, 29 exchanges and 56 bindings are there as planned/,
      );
      assert.match(output, /endpoint orders is adopted: 1 queue, 1 exchange and 2 bindings are there as planned/);
      assert.deepEqual(await stack.preview("--refresh"), []);

      const receiver = await Receiver.on(await openChannel(broker(), vhost), ["orders"]);
      await receiver.until(TASKS);
      // What came twice comes before what is sent last.
      for (const [order, atMs] of await sendTasks({ url }, { last: 1 })) dueMs.set(order, atMs);
      const arrivals = await receiver.until(TASKS + 1);
      const orders = arrivals.map(({ message }) => (JSON.parse(message.content.toString()) as [[string]])[0][0]);
      assert.equal(new Set(orders).size, TASKS + 1);
      assert.equal(orders.length, TASKS + 1);
      arrivals.forEach(({ atMs }, index) => {
        const order = orders[index] as string;
        assertNotEarly(order, atMs, dueMs.get(order) ?? Infinity);
      });
    });

    it("is refused with both values where its queue is another, and nothing is declared", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      // As a worker declares it without task_default_queue_type and task_default_exchange_type.
      await channel.assertExchange("orders", "direct", { durable: true });
      await channel.assertQueue("orders", { durable: true });
      const before = await management.get<object[]>(`exchanges/${vhost}`);
      const stack = await TestStack.create(broker(), vhost);
      stack.configure(config);
      const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(code, 0);
      assert.match(output, /exchange orders exists .*direct.*\(declared here: .*topic/);
      assert.match(output, /queue orders exists .*\(declared here: "quorum"\)/);
      assert.deepEqual(await management.get<object[]>(`exchanges/${vhost}`), before);
      assert.deepEqual(await management.get<object[]>(`policies/${vhost}`), []);
    });
  });
});
