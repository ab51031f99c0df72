import { strict as assert } from "node:assert";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { DelayNetwork, delayNetwork, encodeDelay, parseDelayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { StackConfig, TestStack } from "../support/stack";
import { wayOut } from "../support/waysOut";

const slow = { preset: "custom", prefix: "slow", radix: 2, levels: 3, unitMs: 100 } as const;
const quick = { preset: "custom", prefix: "quick", radix: 4, levels: 3, unitMs: 10 } as const;
const endpoints = [{ name: "Sales", createQueue: true, errorQueue: "errors" }];
const alone: StackConfig = { network: slow, endpoints, removal: "retain" };
const both: StackConfig = { ...alone, networks: { faster: quick }, current: "faster" };
const successor: StackConfig = { endpoints, removal: "retain", networks: { faster: quick } };

describe("several networks of a stack", () => {
  onEachBroker((broker) => {
    let stack: TestStack;

    beforeEach(async () => {
      stack = await TestStack.inNewVhost(broker());
    });

    const currentNetwork = async (): Promise<DelayNetwork> =>
      parseDelayNetwork((await stack.outputs()).delayNetwork as object);

    it("let publishers move from one to another while what waits arrives, once, in a queue that stays", async () => {
      await stack.bringUp(alone);
      const channel = await openChannel(broker(), stack.vhost);
      const publish = (network: DelayNetwork, body: string, delayMs: number): Promise<unknown> =>
        createDelayPublisher(channel, network).publish("Sales", body, { delayMs });
      const old = await currentNetwork();
      await publish(old, "waits in the old one", 700);

      stack.configure(both);
      const joined = (await stack.preview()).filter(({ op }) => op !== "same");
      assert.deepEqual([...new Set(joined.map(({ op }) => op))], ["create"], "nothing that is there changes");
      await stack.up();
      const successorNetwork = await currentNetwork();
      assert.equal(successorNetwork.prefix, delayNetwork(quick).prefix);
      const { delayNetworks } = (await stack.outputs()) as { delayNetworks: Record<string, DelayNetwork> };
      assert.deepEqual(Object.keys(delayNetworks), ["faster", old.prefix]);
      const receiver = await Receiver.on(channel, ["Sales"]);
      await publish(old, "a publisher of yesterday", 100);
      await publish(successorNetwork, "a publisher of today", 100);
      await receiver.until(3);
      assert.deepEqual(await stack.preview("--refresh"), []);

      stack.configure(successor);
      const left = (await stack.preview()).filter(({ op }) => op !== "same");
      const kinds = new Set(
        left.map(
          ({ op, urn }) =>
            `${op} ${urn
              .split("::")
              .at(-1)
              ?.replace(/^delay-.*/, "delay-…")}`,
        ),
      );
      assert.deepEqual([...kinds].sort(), ["delete Sales-Sales", "delete delay", "delete delay-…"]);
      await stack.up();
      await publish(await currentNetwork(), "only the new one", 100);
      const arrived = (await receiver.until(4)).map(({ message }) => message.content.toString()).sort();
      assert.deepEqual(arrived, [
        "a publisher of today",
        "a publisher of yesterday",
        "only the new one",
        "waits in the old one",
      ]);
      assert.deepEqual(await stack.preview("--refresh"), []);

      // Under other names in the state it would be made once more, and then be deleted.
      stack.configure({ ...alone, network: quick });
      const { code, output } = await stack.run(["preview", "--stack", "test"]);
      assert.notEqual(code, 0);
      assert.match(output, /network: this stack has declared the network quick\.r4x3u10 as networks; leave it there/);
      stack.configure({ endpoints, removal: "retain", networks: { renamed: quick } });
      assert.deepEqual(changedBy(await stack.preview()), [], "another name changes nothing on the broker");
    });

    it("are joined by the endpoints that name them", async () => {
      const shipping = { name: "Shipping", createQueue: true, networks: ["faster"] };
      await stack.bringUp({ ...both, endpoints: [...endpoints, shipping] });
      const bindings = await broker().management.get<{ source: string; destination: string }[]>(
        `bindings/${stack.vhost}`,
      );
      const sourcesOf = (name: string): string[] =>
        bindings
          .filter(({ source, destination }) => source.endsWith(".delivery") && destination === name)
          .map(({ source }) => source)
          .sort();
      const [fromSlow, fromQuick] = [slow, quick].map((shape) => delayNetwork(shape).deliveryExchange);
      assert.deepEqual(sourcesOf("Sales"), [fromQuick, fromSlow]);
      assert.deepEqual(sourcesOf("Shipping"), [fromQuick]);
      const outputs = await stack.outputs();
      assert.equal(outputs["endpoint Shipping"], "queue Shipping gets *.*.*.Shipping from quick.r4x3u10.delivery");
      const queues = (await broker().management.queues(stack.vhost)).map(({ name }) => name);
      assert.ok(queues.includes("errors"), "the error queue is there for the endpoint's consumer");

      // NServiceBus's clients limit the queues that they consume; the stack's own policy of before is no rival of that.
      stack.configure({ ...both, endpoints, networks: { ...both.networks, vendor: { preset: "nservicebus" } } });
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
    });

    it("are refused where two have the same exchanges, or nothing says which one publishers use", async () => {
      const refused: [StackConfig, RegExp][] = [
        [
          { ...alone, networks: { again: slow } },
          /networks\.again\.prefix: .*; network has exchanges of the same names/,
        ],
        [{ ...alone, networks: { faster: quick } }, /current: undefined is not allowed; .*slow\.r2x3u100, faster/],
        [{ ...both, current: "fastest" }, /current: "fastest" is not allowed; .*slow\.r2x3u100, faster/],
        [{ endpoints }, /network: undefined is not allowed; give network, or networks/],
        [
          { ...both, endpoints: [{ name: "Sales", networks: ["quick"] }] },
          /endpoints\[0\]\.networks\[0\]: .* is not allowed; it must be one of/,
        ],
      ];
      for (const [config, message] of refused) {
        stack.configure(config);
        const { code, output } = await stack.run(["preview", "--stack", "test"]);
        assert.notEqual(code, 0);
        assert.match(output, message);
      }
    });

    for (const removal of ["delete", "retain"] as const) {
      it(`tells endpoints apart by exact matching, as check says of one by suffix, under removal: ${removal}`, async () => {
        const { management } = broker();
        const { vhost, configFile } = stack;
        const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 } as const;
        const declare = (matching: "suffix" | "exact"): void =>
          stack.configure({ network: { ...shape, matching }, endpoints, removal });
        const found = async (): Promise<string> => {
          const args = ["--stack-config", configFile, "--management", management.url, "--json"];
          return (await runCommand(["check", ...args])).out;
        };
        declare("suffix");
        await stack.up();
        assert.match(await found(), wayOut("refusal-exact"));
        declare("exact");
        await stack.up();
        assert.doesNotMatch(await found(), wayOut("refusal-exact"));
        const channel = await openChannel(broker(), vhost);
        for (const destination of ["Europe.Sales", "Sales"]) {
          const { exchange, routingKey } = encodeDelay(delayNetwork(shape), 10, destination);
          channel.publish(exchange, routingKey, Buffer.from(destination), { persistent: true });
        }
        const parking = delayNetwork(shape).parkingQueue as string;
        const arrivals = await (await Receiver.on(channel, ["Sales", parking])).until(2);
        assert.deepEqual(arrivals.map(({ queue, message }) => [queue, message.content.toString()]).sort(), [
          ["Sales", "Sales"],
          [parking, "Europe.Sales"],
        ]);
      });
    }
  });
});

/** What a preview would do on the broker; outputs of the stack are not. */
function changedBy(steps: { op: string; urn: string }[]): string[] {
  return steps.filter(({ op, urn }) => op !== "same" && !urn.includes("pulumi:pulumi:Stack")).map(({ urn }) => urn);
}
