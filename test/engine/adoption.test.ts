import { strict as assert } from "node:assert";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { declareAsNServiceBus, generations, installEndpoint, sendDelayed } from "../support/nserviceBus";
import { Receiver } from "../support/receive";
import { StackConfig, TestStack } from "../support/stack";

const names = ["Sales", "Billing"];
const MESSAGES = 2000;

describe("a network that NServiceBus has declared", () => {
  onEachBroker((broker) => {
    for (const [version, generation] of Object.entries(generations)) {
      it(`${version}: comes under a stack with its endpoints; what waits arrives, once and not early`, async () => {
        const { preset } = generation;
        const vhost = await broker().management.createVhost();
        const channel = await openChannel(broker(), vhost);
        await declareAsNServiceBus(channel, generation);
        for (const name of [...names, "error"]) await installEndpoint(channel, generation, name);
        const dueMs = new Map<string, number>();
        const sent = Array.from({ length: MESSAGES }, (_, index) => {
          const [name, seconds] = [names[index % names.length] as string, 12 + (index % 7)];
          const body = `${name} ${index}`;
          dueMs.set(body, Date.now() + seconds * 1000);
          return sendDelayed(channel, generation, name, seconds, body);
        });
        await Promise.all(sent);

        const stack = await TestStack.create(broker(), vhost);
        const config: StackConfig = {
          network: { preset },
          endpoints: names.map((name) => ({ name, client: "nservicebus", errorQueue: "error" })),
        };
        stack.configure(config);
        const { code, output } = await stack.up();
        assert.equal(code, 0, output);
        assert.deepEqual(await stack.preview("--refresh"), []);
        // The services' own set-up, if it still runs, finds what it declares.
        await declareAsNServiceBus(channel, generation);
        for (const name of [...names, "error"]) await installEndpoint(channel, generation, name);

        const receiver = await Receiver.on(await openChannel(broker(), vhost), names);
        await receiver.until(MESSAGES);
        // What came twice comes before what is sent last.
        for (const name of names) await sendDelayed(channel, generation, name, 1, `${name} last`);
        const arrivals = await receiver.until(MESSAGES + names.length);
        const bodies = arrivals.map(({ message }) => message.content.toString());
        assert.equal(new Set(bodies).size, MESSAGES + names.length);
        assert.equal(bodies.length, MESSAGES + names.length);
        for (const { queue, message, atMs } of arrivals) {
          const body = message.content.toString();
          assert.equal(queue, body.split(" ")[0]);
          assert.ok(atMs >= (dueMs.get(body) ?? 0), `${body} came early`);
        }
      });
    }

    it("is refused with both values where it differs, and nothing is declared", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      await installEndpoint(channel, generations.v2, "Sales", false);
      const before = await management.get<object[]>(`bindings/${vhost}`);
      const stack = await TestStack.create(broker(), vhost);
      stack.configure({ network: { preset: "nservicebus" }, endpoints: [{ name: "Sales", client: "nservicebus" }] });
      const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(code, 0);
      assert.match(output, /queue Sales exists with x-queue-type .*\(declared here: "quorum"\)/);
      assert.deepEqual(await management.get<object[]>(`bindings/${vhost}`), before);
      assert.deepEqual(await management.get<object[]>(`policies/${vhost}`), []);
    });
  });
});
