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
        const [preview, up] = [["preview"], ["up", "--yes", "--skip-preview"]];
        for (const [change, name, runs] of [
          ["argument", "x-max-length", [preview, up]],
          ["retention", "retainOnDelete", [preview, up]],
          // Neither was seen.
          ["order", "deleteBeforeReplace", [preview]],
          ["provider", "provider", [preview]],
        ] as const) {
          stack.configure({ network: { ...shape, change, by } });
          for (const args of runs) {
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
      // What was the other component's own was taken for this one's.
      const twin = await broker().management.createVhost();
      stack.configure({ network: { ...shape, twin } });
      await stack.up();
      stack.configure({ network: { ...shape, twin, change: "vhost", by: "stack" } });
      const shared = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(shared.code, 0, shared.output);
      assert.match(shared.output.replaceAll(/\s+/g, " "), /changes Queue sales-Sales \(vhost\)/);
      stack.configure({ network: { ...shape, change: "protection", by: "stack" } });
      await stack.up();
      stack.configure({ network: { ...shape } });
      await stack.up();
      assert.deepEqual(await stack.preview(), []);
    });
  });
});
