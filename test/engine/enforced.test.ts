import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { DelayNetwork, parseDelayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { StackConfig, TestStack } from "../support/stack";
import { command } from "../support/command";
import { wayOut } from "../support/waysOut";

const endpoints = [{ name: "Sales", createQueue: true }];
const exact: StackConfig = { network: { preset: "nservicebus" }, endpoints, removal: "delete" };
const enforced: StackConfig = { ...exact, network: { preset: "nservicebus", matching: "enforced" } };

describe("a stack whose network comes to enforce exact matching", () => {
  onEachBroker((broker) => {
    async function enforce(vhost: string, network: DelayNetwork, more: string[], killAt?: RegExp): Promise<void> {
      const management = broker().node.managementUrl.replace("://", "://guest:guest@");
      const args = ["enforce", "--network", "-", "--management", management, "--vhost", vhost, ...more];
      const child = spawn(process.execPath, [command, ...args]);
      const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
      child.stdin.end(JSON.stringify(network));
      const error = text(child.stderr);
      for await (const line of createInterface(child.stdout)) if (killAt?.test(line)) child.kill("SIGKILL");
      assert.equal(await ended, killAt === undefined ? 0 : null, await error);
    }

    it("is refused until the live network is changed and read into the state; then nothing is declared anew", async function () {
      const stack = await TestStack.inNewVhost(broker());
      await stack.bringUp(exact);
      const network = parseDelayNetwork((await stack.outputs()).delayNetwork as object);
      const channel = await openChannel(broker(), stack.vhost);
      const publisher = createDelayPublisher(channel, network);
      await publisher.publish("Sales", "waits meanwhile", { delayMs: 120_000 });
      const levelZero = async (): Promise<unknown> =>
        (await broker().management.queues(stack.vhost)).find(({ name }) => name === "nsb.v2.delay-level-00")?.arguments[
          "x-dead-letter-exchange"
        ];

      const update = (): ReturnType<TestStack["run"]> =>
        stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);

      for (const [direction, told, wanted, other, end] of [
        ["enforce", wayOut("preflight-enforce"), enforced, exact, "nsb.v2.delay-exact"],
        ["enforce --undo", wayOut("preflight-enforce-undo"), exact, enforced, "nsb.v2.delay-delivery"],
      ] as const) {
        const before = await levelZero();
        stack.configure(wanted);
        const edited = await update();
        assert.notEqual(edited.code, 0);
        assert.match(edited.output.replaceAll(/\s+/g, " "), told);
        assert.equal(await levelZero(), before);

        stack.configure(other);
        const change = direction.split(" ").slice(1);
        await enforce(stack.vhost, network, change, /^wait until queue .* is empty/);
        const { output: midway } = await stack.run(["preview", "--stack", "test"]);
        assert.match(midway, wayOut("preflight-policy-enforce"));
        await enforce(stack.vhost, network, change);
        assert.equal(await levelZero(), end);
        stack.configure(wanted);
        const stale = await update();
        assert.notEqual(stale.code, 0);
        assert.match(stale.output, wayOut("preflight-refresh"));
        assert.equal(await levelZero(), end);

        await stack.refresh();
        stack.configure(other);
        const unchanged = await update();
        assert.notEqual(unchanged.code, 0);
        const edit =
          direction === "enforce" ? /Set matching: enforced, and run pulumi refresh\./ : wayOut("preflight-enforce");
        assert.match(unchanged.output.replaceAll(/\s+/g, " "), edit);
        stack.configure(wanted);
        const changes = (await stack.preview()).filter(({ op }) => op !== "same");
        const queues = changes.filter(({ urn }) => urn.includes("rabbitmq:index/queue:Queue"));
        assert.deepEqual(queues, [], JSON.stringify(changes.map(({ op, urn }) => [op, urn])));
        const { code, output } = await stack.up();
        assert.equal(code, 0, output);
        assert.deepEqual(await stack.preview("--refresh"), []);
      }

      const receiver = await Receiver.on(channel, ["Sales"]);
      const now = createDelayPublisher(channel, parseDelayNetwork((await stack.outputs()).delayNetwork as object));
      await now.publish("Sales", "by the last descriptor", { delayMs: 1000 });
      const bodies = (await receiver.until(2)).map(({ message }) => message.content.toString());
      assert.deepEqual(bodies.sort(), ["by the last descriptor", "waits meanwhile"]);
      await stack.destroy();
    });
  });
});
