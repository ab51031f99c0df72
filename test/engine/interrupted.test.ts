import { strict as assert } from "node:assert";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { delayNetwork, planEntities } from "@rabbitmq-delay/topology";
import { killNode } from "../../toolchain/dist/brokerNode";
import { TestBroker, crashAndRestart, onEachBroker, ownTestBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { rounds } from "../support/length";
import { Receiver } from "../support/receive";
import { RunEnd, TestStack } from "../support/stack";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 3, unitMs: 10 } as const;
const config = { network: shape, endpoints: [{ name: "Europe.Sales", createQueue: true }] };
const network = delayNetwork(shape);
const planned = planEntities(network).queues.length + config.endpoints.length;

describe("an interrupted up is repaired by the next", () => {
  onEachBroker((broker) => {
    const shares = [0.1, 0.5, 0.9, 0.3, 0.7].slice(0, rounds(3, 5));

    it(`after a kill at each of ${shares.length} points, with nothing left over`, async () => {
      const { stack, vhost } = await createStack(broker());
      for (const share of shares) {
        const { code, output } = await upInterrupted(broker(), stack, vhost, share, (group) =>
          process.kill(group, "SIGKILL"),
        );
        assert.equal(code, null, output);
        await stack.cancel();
        await expectRepaired(broker(), stack, vhost);
        await stack.destroy();
        assert.deepEqual(await broker().management.queues(vhost), [], "nothing is left over");
      }
    });

    it("after Ctrl-C", async () => {
      const { stack, vhost } = await createStack(broker());
      await upInterrupted(broker(), stack, vhost, 0.3, (group) => process.kill(group, "SIGINT"));
      await expectRepaired(broker(), stack, vhost);
    });

    it("after the broker was killed", async () => {
      const own = await ownTestBroker(broker().node.installation);
      const { stack, vhost } = await createStack(own);
      await upInterrupted(own, stack, vhost, 0.3, () => killNode(own.node));
      await crashAndRestart(own);
      await expectRepaired(own, stack, vhost);
    });
  });

  async function createStack(broker: TestBroker): Promise<{ stack: TestStack; vhost: string }> {
    const vhost = await broker.management.createVhost();
    const stack = await TestStack.create(broker, vhost);
    stack.configure(config);
    return { stack, vhost };
  }

  /**
   * Runs `up`, one thing after the other, and interrupts it as soon as the broker holds a share of the queues. A busy broker may tell of them
   * when the update is over; then it is run again.
   */
  async function upInterrupted(
    broker: TestBroker,
    stack: TestStack,
    vhost: string,
    share: number,
    interrupt: (processGroup: number) => unknown,
  ): Promise<RunEnd> {
    for (let tries = 1; ; tries++) {
      const end = await upOnce(broker, stack, vhost, share, interrupt);
      if (end.code !== 0) return end;
      assert.ok(tries < 5, `it was interrupted on its way: ${end.output}`);
      await stack.destroy();
    }
  }

  async function upOnce(
    { management }: TestBroker,
    stack: TestStack,
    vhost: string,
    share: number,
    interrupt: (processGroup: number) => unknown,
  ): Promise<RunEnd> {
    const queues = Math.ceil(planned * share);
    let isOver = false;
    let interrupted: Promise<void> | undefined;
    const end = await stack.run(["up", "--yes", "--skip-preview", "--parallel", "1", "--stack", "test"], ({ pid }) => {
      interrupted = (async () => {
        while (!isOver && (await management.queues(vhost)).length < queues)
          await new Promise((resolve) => setImmediate(resolve));
        if (!isOver && pid !== undefined) await interrupt(-pid);
      })();
    });
    isOver = true;
    await interrupted;
    return end;
  }

  async function expectRepaired(broker: TestBroker, stack: TestStack, vhost: string): Promise<void> {
    await stack.up();
    assert.equal((await broker.management.queues(vhost)).length, planned);
    // The consumer of the round before may still be shown, in a way that the provider can't read.
    await broker.management.untilUnconsumed(vhost, "Europe.Sales");
    assert.deepEqual(await stack.preview("--refresh"), []);
    const channel = await openChannel(broker, vhost);
    const receiver = await Receiver.on(channel, ["Europe.Sales"]);
    await createDelayPublisher(channel, network).publish("Europe.Sales", "x", { delayMs: 210 });
    await receiver.until(1);
    await channel.close();
  }
});
