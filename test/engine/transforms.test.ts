import { strict as assert } from "node:assert";
import { join } from "node:path";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { TestStack } from "../support/stack";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 5, unitMs: 10 } as const;

// The preflight passed, the update failed half-way with 400, and the endpoint's binding was gone.
describe("transforms of a program that change resources of a component", () => {
  onEachBroker((broker) => {
    it("are refused before anything is touched, wherever they stand, and an endpoint keeps its messages", async () => {
      const vhost = await broker().management.createVhost();
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "transformed"));
      stack.configure({ network: { ...shape } });
      await stack.up();
      const channel = await openChannel(broker(), vhost);
      const receiver = await Receiver.on(channel, ["Sales"]);
      await createDelayPublisher(channel, delayNetwork(shape)).publish("Sales", "waits", { delayMs: 10_000 });
      for (const by of ["stack", "component", "transformations"]) {
        for (const [change, name] of [
          ["argument", "x-max-length"],
          ["retention", "retainOnDelete"],
        ] as const) {
          stack.configure({ network: { ...shape, change, by } });
          for (const args of [["preview"], ["up", "--yes", "--skip-preview"]]) {
            const { code, output } = await stack.run([...args, "--stack", "test"]);
            assert.notEqual(code, 0, `${by} ${change}: ${output}`);
            assert.match(
              output.replaceAll(/\s+/g, " "),
              new RegExp(`a transform of the program changes Queue sales-Sales \\(${name}\\)`),
              `${by} ${change}`,
            );
          }
        }
      }
      await receiver.until(1);
      stack.configure({ network: { ...shape, change: "protection", by: "stack" } });
      await stack.up();
      stack.configure({ network: { ...shape } });
      await stack.up();
      assert.deepEqual(await stack.preview(), []);
    });
  });
});
