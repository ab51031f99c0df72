import { strict as assert } from "node:assert";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { StackConfig, TestStack } from "../support/stack";

const endpoints = ["Sales", "Billing", "Shipping"].map((name) => ({ name, createQueue: true }));
const before: StackConfig = {
  network: { preset: "custom", prefix: "orders", radix: 4, levels: 4 },
  endpoints,
  workQueues: [{ queue: "invoices", delays: ["10s", "5m"] }],
};

/** A report of one changed endpoint has fewer lines. */
const LIMIT = 20;

interface Change {
  to: StackConfig;
  /** Texts that a reader needs, under `removal: retain` and under `removal: delete`. */
  told: Record<"retain" | "delete", RegExp[]>;
}

const changes: Record<string, Change> = {
  "a changed delay": {
    to: { workQueues: [{ queue: "invoices", delays: ["10s", "10m"] }] },
    told: {
      retain: [/4 created · 4 deleted or let go/, /queue <code>invoices\.retry-300000<\/code>: \*\*2 messages now/],
      delete: [
        /\*\*1 danger · 2 messages wait there now · 2 to look at · 4 created · 4 deleted or let go · 68 unchanged\*\*/,
        /🔴 .*\n {2}- queue <code>invoices\.retry-300000<\/code>: \*\*2 messages now/,
        /exchange <code>invoices\.retry-300000<\/code>/,
        /policy <code>invoices\.retry-300000\.delivery-limit<\/code>/,
      ],
    },
  },
  "an added endpoint": {
    to: { endpoints: [...endpoints, { name: "Returns", createQueue: true }] },
    told: {
      retain: [/\*\*4 created · 72 unchanged\*\*/, /endpoint <code>Returns<\/code> joins orders\.r4x4u1000/],
      delete: [/\*\*4 created · 72 unchanged\*\*/, /endpoint <code>Returns<\/code> joins orders\.r4x4u1000/],
    },
  },
  "a removed endpoint": {
    to: { endpoints: endpoints.slice(0, 2) },
    told: {
      retain: [
        /\*\*1 to look at · 4 deleted or let go · 67 unchanged\*\*/,
        /endpoint <code>Shipping<\/code>/,
        /queue <code>Shipping<\/code>: \*\*2 messages now/,
      ],
      delete: [
        /\*\*1 danger · 2 messages wait there now · 2 to look at · 4 deleted or let go · 67 unchanged\*\*/,
        /🔴 .*\n {2}- queue <code>Shipping<\/code>: \*\*2 messages now/,
        /endpoint <code>Shipping<\/code>/,
        /policy <code>Shipping\.delivery-limit<\/code>/,
      ],
    },
  },
};

describe("the report of one changed endpoint", () => {
  onEachBroker((broker, { isNewest }) => {
    if (!isNewest) return;
    for (const removal of ["retain", "delete"] as const)
      it(`has fewer than ${LIMIT} lines under ${removal}, and all that a reader needs`, async () => {
        const { management } = broker();
        const stack = await TestStack.inNewVhost(broker());
        await stack.bringUp({ ...before, removal });
        const channel = await openChannel(broker(), stack.vhost);
        for (const queue of ["invoices.retry-300000", "Shipping"])
          for (const body of ["one", "two"]) channel.sendToQueue(queue, Buffer.from(body));
        await management.untilCounted(stack.vhost, 4);
        for (const [title, { to, told }] of Object.entries(changes)) {
          stack.configure({ ...before, removal, ...to });
          const { output } = await stack.reviewAsText("markdown", "--management", management.url);
          assert.ok(output.trimEnd().split("\n").length < LIMIT, output);
          for (const text of told[removal]) assert.match(output, text, title);
          const steps = [...output.matchAll(/- Way out: (.*)/g)].flatMap(([, way = ""]) => way.split(/(?<=\.) /));
          assert.deepEqual(steps, [...new Set(steps)], title);
        }
      });
  });
});
