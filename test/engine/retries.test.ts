import { strict as assert } from "node:assert";
import { RetryPolicy, consumeWithRetries, throughDeclared } from "@rabbitmq-delay/publish";
import { parseRetryIntervals, planRetryIntervals, retryIntervals } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { StackConfig, TestStack } from "../support/stack";

const config: StackConfig = {
  network: { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 },
  retryIntervals: { intervals: ["50ms", 200] },
  endpoints: [{ name: "work", createQueue: true, retries: true }],
};

describe("interval queues of a stack", () => {
  onEachBroker((broker) => {
    let vhost: string;
    let stack: TestStack;

    beforeEach(async () => {
      stack = await TestStack.inNewVhost(broker());
      ({ vhost } = stack);
    });

    it("come up, serve a failing service, agree with a client that declares them MassTransit's way, and go", async () => {
      stack.configure(config);
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      const outputs = await stack.outputs();
      assert.match(String(outputs["endpoint work"]), /and its failed messages from the interval queues$/);

      const channel = await openChannel(broker(), vhost);
      await declareAsMassTransit(channel, [50, 200]);
      await channel.assertQueue("work_error");
      const tries: number[] = [];
      const policy = RetryPolicy.intervals([50, 200]);
      const mechanism = throughDeclared(parseRetryIntervals(outputs.retryIntervals));
      const succeeded = new Promise<void>((resolve, reject) => {
        const handler = ({ redeliveries }: { redeliveries: number }): void => {
          tries.push(redeliveries);
          if (redeliveries < 2) throw new Error("not yet");
          resolve();
        };
        consumeWithRetries(channel, "work", handler, { policy, mechanism }).then(
          (consumer) => afterThisTest(() => consumer.stop()),
          reject,
        );
      });
      channel.sendToQueue("work", Buffer.from("x"));
      await succeeded;
      assert.deepEqual(tries, [0, 1, 2]);

      await stack.destroy();
      const { queues } = planRetryIntervals(retryIntervals({ intervals: [50, 200] }));
      const left = (await broker().management.queues(vhost)).map(({ name }) => name);
      assert.deepEqual(
        queues.map(({ name }) => name).filter((name) => left.includes(name)),
        ["mt-delay-parking"],
        "what other stacks' messages are parked in",
      );
      const exchanges = await broker().management.get<{ name: string }[]>(`exchanges/${vhost}`);
      assert.deepEqual(
        exchanges.map(({ name }) => name).filter((name) => name.startsWith("mt-delay")),
        ["mt-delay-parking", "mt-delay-return"],
        "other stacks may use the return exchange and its parking",
      );
    });

    it("are declared beside those of a MassTransit that was there first, and of another stack", async () => {
      const channel = await openChannel(broker(), vhost);
      await declareAsMassTransit(channel, [50, 200, 900]);
      stack.configure(config);
      await stack.up();
      const other = await TestStack.create(broker(), vhost);
      other.configure({ network: { preset: "celery" }, retryIntervals: { intervals: [50, 700] } });
      await other.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      await declareOverAmqp(channel, planRetryIntervals(retryIntervals({ intervals: [50, 200, 700] })));
    });

    it("refuse what can't be, before anything is created", async () => {
      const refuses = async (more: Partial<StackConfig>, message: RegExp): Promise<void> => {
        stack.configure({ ...config, ...more });
        const { code, output } = await stack.run(["preview", "--stack", "test"]);
        assert.notEqual(code, 0);
        assert.match(output, message);
      };
      await refuses(
        { retryIntervals: { intervals: ["1m", 60000] } },
        /intervals\[1\]: 60000 is not allowed; .*already/,
      );
      await refuses(
        { retryIntervals: undefined },
        /endpoints\[0\]\.retries: true is not allowed; retryIntervals must say/,
      );
    });
  });

  /** What MassTransit declares, by its documentation: its own client needs .NET. */
  async function declareAsMassTransit(
    channel: Awaited<ReturnType<typeof openChannel>>,
    intervalsMs: number[],
  ): Promise<void> {
    await channel.assertExchange("mt-delay-return", "direct", { durable: true });
    for (const intervalMs of intervalsMs) {
      const name = `mt-delay-${intervalMs}`;
      await channel.assertExchange(name, "fanout", { durable: true });
      const values = { "x-message-ttl": intervalMs, "x-dead-letter-exchange": "mt-delay-return" };
      await channel.assertQueue(name, { durable: true, arguments: values });
      await channel.bindQueue(name, name, "");
    }
  }
});
