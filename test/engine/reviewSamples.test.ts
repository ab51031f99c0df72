import { strict as assert } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { root } from "../../toolchain/dist/paths";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { StackConfig, TestStack } from "../support/stack";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 7, unitMs: 1000 } as const;
const before: StackConfig = {
  network: shape,
  workQueues: [{ queue: "invoices", delays: ["10s", "5m"] }],
  endpoints: [
    { name: "Sales", createQueue: true },
    { name: "Billing", createQueue: true },
  ],
};

/** A change for each verdict. */
const samples: Record<string, Partial<StackConfig>> = {
  nothing: {},
  safe: { endpoints: [...(before.endpoints as unknown[]), { name: "Shipping", createQueue: true }] },
  care: { network: { ...shape, radix: 8, levels: 5 }, removal: "retain" },
  loss: { network: { ...shape, radix: 8, levels: 5 }, workQueues: [{ queue: "invoices", delays: ["10s"] }] },
};

/** The samples of docs/reviews, by the real command on real changes; `make samples` writes them. */
describe("the sample reviews", () => {
  onEachBroker((broker, { isNewest }) => {
    if (!isNewest) return;
    for (const [verdict, change] of Object.entries(samples)) {
      it(`${verdict} is what the command prints`, async () => {
        const vhost = await broker().management.createVhost();
        const stack = await TestStack.create(broker(), vhost);
        const { removal = "delete" } = change;
        await stack.bringUp({ ...before, removal });
        const channel = await openChannel(broker(), vhost);
        const publisher = createDelayPublisher(channel, delayNetwork(shape));
        for (let index = 0; index < 12; index++) await publisher.publish("Billing", "x", { delayMs: 12_000_000 });
        await channel.consume("Billing", () => undefined);
        await channel.consume("Sales", () => undefined);
        await broker().management.untilCounted(vhost, 12, 2);
        stack.configure({ ...before, removal, ...change });
        const { output, code } = await stack.reviewAsText("markdown", "--management", broker().management.url);
        assert.equal(code, verdict === "loss" ? 1 : 0, output);
        // A time is never the same twice, and the vhost is the test's own.
        const shown = output
          .replaceAll(vhost, "shop")
          .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-01-01T00:00:00.000Z");
        const file = join(root, "docs", "reviews", `${verdict}.md`);
        if (process.env.UPDATE_SAMPLES !== undefined) writeFileSync(file, shown);
        assert.equal(shown, readFileSync(file, "utf8"), "make samples brings it up to date");
      });
    }
  });
});
