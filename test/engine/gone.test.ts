import { strict as assert } from "node:assert";
import { join } from "node:path";
import { delayNetwork, planEntities } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { root } from "../../toolchain/dist/paths";
import { TestStack } from "../support/stack";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 } as const;
const level = planEntities(delayNetwork(shape)).queues[0]?.name as string;
const programs = {
  "the stack program": { folder: root, config: { network: shape, endpoints: [{ name: "Sales", createQueue: true }] } },
  "a program of one's own": {
    folder: join(__dirname, "programs", "edits"),
    config: {
      network: {
        parts: [
          { type: "DelayLevelTopology", name: "net", args: shape },
          {
            type: "EndpointDelayBinding",
            name: "sales",
            args: { network: "$net", endpoint: "Sales", createQueue: true },
          },
        ],
      },
    },
  },
};

// "50 unchanged", and from then on messages were confirmed and parked.
describe("queues that somebody deleted by hand", () => {
  onEachBroker((broker) => {
    for (const [title, { folder, config }] of Object.entries(programs)) {
      it(`are named by a preview of ${title}, and declared again as its warning says`, async () => {
        const { management } = broker();
        const vhost = await management.createVhost();
        const stack = await TestStack.create(broker(), vhost, folder);
        await stack.bringUp(config);
        for (const name of [level, "Sales"]) await management.call("DELETE", `queues/${vhost}/${name}`);
        const { output } = await stack.run(["preview", "--stack", "test"]);
        const told = output.replaceAll(/\s+/g, " ");
        for (const name of [level, title === "the stack program" ? "1 more" : "queue Sales"])
          assert.ok(told.includes(name), told);
        assert.match(told, /in this stack's state, and not in vhost \S+ of the broker: .*run pulumi up --refresh/);
        await stack.up("--refresh");
        const queues = (await management.queues(vhost)).map(({ name }) => name);
        for (const name of [level, "Sales"]) assert.ok(queues.includes(name), name);
        const healthy = await stack.run(["preview", "--stack", "test"]);
        assert.doesNotMatch(healthy.output, /in this stack's state/);
      });
    }
  });
});
