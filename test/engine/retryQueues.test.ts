import { strict as assert } from "node:assert";
import { RetryPolicy, consumeWithRetries, throughDeclared } from "@rabbitmq-delay/publish";
import { RetryDescriptor, parseRetryDescriptor, planRetry } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { StackConfig, TestStack } from "../support/stack";

const config: StackConfig = {
  network: { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 },
  workQueues: [{ queue: "work", delays: ["50ms", 100] }],
  holdQueues: { delays: [40], destinations: [{ exchange: "", routingKey: "held/eu@x" }], leaseMs: 600_000 },
  endpoints: [{ name: "work" }, { name: "held", createQueue: true }],
};
const delayed: StackConfig = {
  network: config.network,
  delayedRetryQueues: [
    { queue: "native", minMs: 40, deliveryLimit: 2 },
    { queue: "by policy", minMs: 40, deliveryLimit: 2, settings: "policy" },
  ],
};

describe("retry queues of a stack", () => {
  onEachBroker((broker, { isNewest }) => {
    let vhost: string;
    let stack: TestStack;

    beforeEach(async () => {
      stack = await TestStack.inNewVhost(broker());
      ({ vhost } = stack);
    });

    it("come up as planned, serve a failing service, and go", async () => {
      stack.configure(config);
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      const { workRetries, holdQueues } = await stack.outputs();
      const work = parseRetryDescriptor((workRetries as Record<string, unknown>).work);
      const channel = await openChannel(broker(), vhost);
      for (const descriptor of [work, parseRetryDescriptor(holdQueues)])
        await declareOverAmqp(channel, planRetry(descriptor));
      assert.deepEqual(await triesOf("work", work), [0, 1, 2]);

      stack.configure({ ...config, holdQueues: undefined });
      const steps = (await stack.preview()).filter(({ op }) => op !== "same");
      assert.deepEqual(
        steps.map(({ op, urn }) => `${op} ${urn.split("::").slice(2).join("::")}`),
        [
          "delete rabbitmq-delay:index:HoldQueues$rabbitmq:index/queue:Queue::holds-hold.40+600000.0::held%2Feu%40x",
          "delete rabbitmq-delay:index:HoldQueues::holds",
        ],
        "only what left the config goes",
      );
      await stack.destroy();
      assert.deepEqual(await broker().management.queues(vhost), []);
    });

    it("bind a work queue by each of its patterns, and an edit of them leaves the others bound", async () => {
      const edit = async (patterns: string[], expected: string[]): Promise<void> => {
        stack.configure({ network: config.network, workQueues: [{ queue: "work", delays: [100], patterns }] });
        const steps = (await stack.preview()).filter(({ urn }) => urn.includes("work-work-to-work"));
        assert.deepEqual(steps.map(({ op, urn }) => `${op} ${urn.split("::").at(-1)}`).sort(), expected);
        await stack.up();
        const found = await broker().management.get<{ source: string; routing_key: string }[]>(
          `queues/${vhost}/work/bindings`,
        );
        const keys = found.filter(({ source }) => source === "work").map((binding) => binding.routing_key);
        const own = patterns.includes("#") || patterns.includes("work") ? [] : ["work"];
        assert.deepEqual(keys.sort(), [...patterns, ...own].sort());
      };
      await edit(["#"], ["create work-work-to-work"]);
      await edit(["night.*", "#"], ["create work-work-to-work/night.*"]);
      await edit(["#"], ["delete work-work-to-work/night.*"]);
      await edit(
        ["night.*", "day.#"],
        [
          "create work-work-to-work/day.#",
          "create work-work-to-work/night.*",
          "create work-work-to-work/work",
          "delete work-work-to-work",
        ],
      );
      // Each of these leads to the queue's own name, so that the name alone does not tell which one was alone.
      await edit(
        ["#"],
        [
          "create work-work-to-work",
          "delete work-work-to-work/day.#",
          "delete work-work-to-work/night.*",
          "delete work-work-to-work/work",
        ],
      );
      await edit(["work", "#"], ["create work-work-to-work/work"]);
      await edit(["#"], ["delete work-work-to-work/work"]);
      await edit(["*", "work", "#"], ["create work-work-to-work/*", "create work-work-to-work/work"]);
      await edit(["work"], ["delete work-work-to-work/#", "delete work-work-to-work/*"]);
      await edit(["*", "work"], ["create work-work-to-work/*"]);
    });

    it("keep what may hold messages when it leaves the program, unless told to delete it", async () => {
      stack.configure({ ...config, removal: "retain" });
      await stack.up();
      stack.configure({ network: config.network, removal: "retain" });
      await stack.up();
      const left = (await broker().management.queues(vhost)).map(({ name }) => name);
      assert.ok(["work", "work.dead", "work.retry-50", "work.retry-100"].every((name) => left.includes(name)));
    });

    it("a broker's own delayed retry comes up, or fails the preview of an older broker", async () => {
      stack.configure(delayed);
      if (!isNewest) {
        const { code, output } = await stack.run(["preview", "--stack", "test"]);
        assert.notEqual(code, 0);
        assert.match(
          output,
          /is RabbitMQ 3\.10\.\d+; 4\.3\.0 or newer is needed for the delayed retry of queue native/,
        );
        assert.deepEqual(await broker().management.queues(vhost), []);
        return;
      }
      const policy = { pattern: "^by", "apply-to": "queues", definition: { "max-length": 10 }, priority: 200 };
      await broker().management.call("PUT", `policies/${vhost}/stronger`, policy);
      const { code, output } = await stack.run(["preview", "--stack", "test"]);
      assert.notEqual(code, 0);
      assert.match(output, /policy stronger .* would keep by policy\.delayed-retry .* from delaying its retries/);
      await broker().management.call("DELETE", `policies/${vhost}/stronger`);

      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      const { delayedRetries } = (await stack.outputs()) as { delayedRetries: Record<string, RetryDescriptor> };
      for (const queue of ["native", "by policy"]) {
        assert.deepEqual(await triesOf(queue, delayedRetries[queue] as RetryDescriptor), [0, 1, 2]);
      }
      await stack.destroy();
    });

    it("refuse what can't be, before anything is created", async () => {
      const refuses = async (more: Partial<StackConfig>, message: RegExp): Promise<void> => {
        stack.configure({ network: config.network, ...more });
        const { code, output } = await stack.run(["preview", "--stack", "test"]);
        assert.notEqual(code, 0);
        assert.match(output, message);
      };
      await refuses({ workQueues: [{ queue: "a", delays: [5], maxRetries: -1 }] }, /maxRetries: -1 is not allowed/);
      await refuses({ workQueues: [{ delays: [5] }] }, /workQueues\[0\]\.queue: undefined is not allowed/);
      const twice = { queue: "a", delays: [5] };
      await refuses(
        { workQueues: [twice, twice] },
        /workQueues\[1\]: "a" is not allowed; workQueues\[0\] declares the exchange of that name/,
      );
      await refuses({ holdQueues: { delays: [5], destinations: [] } }, /destinations: \[\] is not allowed/);
    });

    /** What a handler that always fails sees of one message: how often it came back. */
    async function triesOf(queue: string, descriptor: RetryDescriptor): Promise<number[]> {
      const channel = await openChannel(broker(), vhost);
      const tries: number[] = [];
      await new Promise<void>((resolve, reject) => {
        const options = {
          policy: RetryPolicy.declared(descriptor),
          mechanism: throughDeclared(descriptor),
          onFailure: ({ kind }: { kind: string }): void => (kind === "failed" ? resolve() : undefined),
        };
        const handler = ({ redeliveries }: { redeliveries: number }): void => {
          tries.push(redeliveries);
          throw new Error("never");
        };
        consumeWithRetries(channel, queue, handler, options).then(
          (consumer) => afterThisTest(() => consumer.stop()),
          reject,
        );
        channel.sendToQueue(queue, Buffer.from("x"), { persistent: true });
      });
      return tries;
    }
  });
});
