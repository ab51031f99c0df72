import { strict as assert } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { DelayNetwork, delayNetwork, planEntities } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { StackConfig, StateResource, Step, TestStack } from "../support/stack";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 3, unitMs: 10 } as const;
const endpoints = [
  { name: "Sales", createQueue: true },
  { name: "Europe.Sales", createQueue: true },
];
const config: StackConfig = { network: shape, endpoints };
const network = delayNetwork(shape);

function changes(steps: Step[]): string[] {
  return steps.map(({ op, urn }) => `${op} ${urn.split("::").slice(-2).join("::").replace(/^.*\$/, "")}`).sort();
}

describe("a stack", () => {
  onEachBroker((broker, { isNewest }) => {
    /** Brokers before 4.0 have no delivery limits that had to be lifted. */
    const isFor =
      (isNewest: boolean) =>
      (name: string): boolean =>
        isNewest || !name.endsWith("delivery-limit");
    let vhost: string;
    let stack: TestStack;

    beforeEach(async () => {
      stack = await TestStack.inNewVhost(broker());
      ({ vhost } = stack);
    });

    const queueNames = async (): Promise<string[]> =>
      (await broker().management.queues(vhost)).map(({ name }) => name).sort();

    it("comes up, stays the same, refreshes clean and goes without a trace", async () => {
      stack.configure(config);
      await stack.up();
      const planned = planEntities(network).queues.map(({ name }) => name);
      assert.deepEqual(await queueNames(), [...planned, "Sales", "Europe.Sales"].sort());
      assert.deepEqual(await stack.preview(), []);
      assert.match((await stack.up()).output, /unchanged/);
      assert.doesNotMatch((await stack.refresh()).output, /\d+ (updated|deleted|created)/);
      assert.deepEqual(await stack.preview(), [], "after a refresh");
      const outputs = await stack.outputs();
      assert.deepEqual(outputs.delayNetwork, { ...network, vhost: outputs.vhost });
      assert.match(
        String(outputs["endpoint Sales"]),
        /^queue Sales gets \*\.\*\.\*\.Sales from orders\.r4x3u10\.delivery$/,
      );
      await stack.destroy();
      assert.deepEqual(await queueNames(), []);
      const exchanges = await broker().management.get<{ name: string }[]>(`exchanges/${vhost}`);
      assert.deepEqual(
        exchanges.filter(({ name }) => name.startsWith("orders")),
        [],
      );
    });

    it("adds and removes one endpoint with its resources alone", async () => {
      await stack.bringUp(config);
      stack.configure({ ...config, endpoints: [...endpoints, { name: "Billing", createQueue: true }] });
      assert.deepEqual(
        changes(await stack.preview()),
        [
          "create rabbitmq-delay:index:EndpointDelayBinding::Billing",
          "create rabbitmq:index/binding:Binding::Billing-Billing",
          "create rabbitmq:index/exchange:Exchange::Billing-rabbitmq-delay.owner-of-endpoint.Billing",
          "create rabbitmq:index/policy:Policy::Billing-Billing.delivery-limit",
          "create rabbitmq:index/queue:Queue::Billing-Billing",
        ].filter(isFor(isNewest)),
      );
      await stack.up();
      stack.configure(config);
      assert.deepEqual(
        changes(await stack.preview()),
        [
          "delete rabbitmq-delay:index:EndpointDelayBinding::Billing",
          "delete rabbitmq:index/binding:Binding::Billing-Billing",
          "delete rabbitmq:index/exchange:Exchange::Billing-rabbitmq-delay.owner-of-endpoint.Billing",
          "delete rabbitmq:index/policy:Policy::Billing-Billing.delivery-limit",
          "delete rabbitmq:index/queue:Queue::Billing-Billing",
        ].filter(isFor(isNewest)),
      );
      await stack.up();
      assert.ok(!(await queueNames()).includes("Billing"));
    });

    it("finds and repairs what was deleted or changed behind its back", async () => {
      await stack.bringUp(config);
      const { management } = broker();
      const [gone, changed] = planEntities(network)
        .queues.slice(1)
        .map(({ name }) => name) as [string, string];
      await management.call("DELETE", `queues/${vhost}/${gone}`);
      await management.call("DELETE", `queues/${vhost}/${changed}`);
      await management.call("PUT", `queues/${vhost}/${changed}`, {
        durable: true,
        arguments: { "x-queue-type": "quorum", "x-message-ttl": 5 },
      });
      await stack.up("--refresh");
      for (const plan of planEntities(network).queues) {
        const found = await management.get<{ arguments: object }>(`queues/${vhost}/${plan.name}`);
        assert.deepEqual(found.arguments, plan.arguments, plan.name);
      }
      assert.deepEqual(await stack.preview("--refresh"), []);
      await deliversTo(network, "Sales");
    });

    it("stays the same with a vendor's queues that have no type, which brokers show differently", async () => {
      const vendors = { network: { preset: "nservicebus-v1" } };
      stack.configure(vendors);
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      const level = planEntities(delayNetwork({ preset: "nservicebus-v1" })).queues.at(-1)?.name as string;
      await broker().management.call("DELETE", `queues/${vhost}/${level}`);
      await broker().management.call("PUT", `queues/${vhost}/${level}`, { durable: true, arguments: {} });
      const { code, output } = await stack.run(["preview", "--stack", "test"]);
      assert.notEqual(code, 0);
      assert.match(output, new RegExp(`queue ${level.replaceAll(".", "\\.")} exists with x-queue-mode nothing`));
    });

    it("keeps its URNs: they are what an edit is compared by", async () => {
      await stack.bringUp(config);
      const resources = await stack.resources();
      const urns = resources.map(({ urn }) => urn).sort();
      const file = join(__dirname, "urns.snapshot.json");
      if (process.env.UPDATE_SNAPSHOTS === "1" && isNewest)
        writeFileSync(file, `${JSON.stringify(urns, undefined, 2)}\n`);
      const expected = (JSON.parse(readFileSync(file, "utf8")) as string[]).filter(isFor(isNewest));
      assert.deepEqual(urns, expected);
      const parentOf = new Map(resources.map(({ urn, parent }) => [urn, parent]));
      const component = urns.find((urn) => urn.endsWith("DelayLevelTopology::delay"));
      const endpoint = urns.find((urn) => urn.endsWith("EndpointDelayBinding::Sales"));
      for (const urn of urns.filter((name) => name.includes("::delay-"))) assert.equal(parentOf.get(urn), component);
      for (const urn of urns.filter((name) => name.includes("::Sales-"))) assert.equal(parentOf.get(urn), endpoint);
      assert.ok(resources.every(isReleased));
    });

    it("under retain, an edit of radix, unit or queue type leaves the old network working, and its messages arrive", async () => {
      const retained: StackConfig = { ...config, removal: "retain" };
      stack.configure(retained);
      await stack.up();
      assert.ok(
        (await stack.resources())
          .filter(({ type }) => type === "rabbitmq:index/queue:Queue")
          .every(({ retainOnDelete }) => retainOnDelete),
      );
      const channel = await openChannel(broker(), vhost);
      for (const edit of [{ radix: 2 }, { unitMs: 20 }, { queueType: "classic" }]) {
        stack.configure({ ...retained, network: { ...shape, ...edit } });
        const deleted = (await stack.preview()).filter(({ op }) => /delete|replace/.test(op));
        const lossy = deleted.filter(({ urn, oldState }) => /Queue::/.test(urn) && !oldState?.retainOnDelete);
        assert.deepEqual(changes(lossy), [], JSON.stringify(edit));
        assert.deepEqual(changes(deleted.filter(({ op, urn }) => op.includes("replace") && /Queue::/.test(urn))), []);
      }
      await channel.bindQueue("Sales", network.deliveryExchange, "*.*.*.Sales");
      const receiver = await Receiver.on(channel, ["Sales", network.parkingQueue as string]);
      await createDelayPublisher(channel, network).publish("Sales", "pending", { delayMs: 630 });
      await stack.up();
      const [arrival] = await receiver.until(1);
      assert.equal(
        arrival?.message.content.toString(),
        "pending",
        "it arrives, in the endpoint's queue or the parking",
      );
      await createDelayPublisher(channel, network).publish("Sales", "old network", { delayMs: 10 });
      await receiver.until(2);
      await stack.destroy();
      assert.ok((await queueNames()).includes(`${network.prefix}.level-00-1`), "destroy leaves it too");
    });

    async function deliversTo(used: DelayNetwork, endpoint: string): Promise<void> {
      const channel = await openChannel(broker(), vhost);
      const receiver = await Receiver.on(channel, [endpoint]);
      await createDelayPublisher(channel, used).publish(endpoint, "x", { delayMs: 210 });
      await receiver.until(1);
    }
  });
});

function isReleased({ retainOnDelete }: StateResource): boolean {
  return retainOnDelete !== true;
}
