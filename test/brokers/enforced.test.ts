import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { delayNetwork, planBinding } from "@rabbitmq-delay/topology";
import { checkEndpointsApart } from "@rabbitmq-delay/topology/stack";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { declareAsNServiceBus, generations, sendDelayed } from "../support/nserviceBus";
import { Receiver } from "../support/receive";

/** Names of which some end with others. */
const names = fc.uniqueArray(
  fc
    .array(fc.constantFrom("Sales", "Europe", "North", "Sales2"), { minLength: 1, maxLength: 3 })
    .map((words) => words.join(".")),
  { minLength: 2, maxLength: 6 },
);
const RUNS = 5;

describe("a network whose exact matching is enforced", () => {
  onEachBroker((broker) => {
    for (const generation of [generations.v2, generations.v1]) {
      const { preset } = generation;

      async function sendAndReceive(endpoints: string[]): Promise<void> {
        const { management } = broker();
        const vhost = await management.createVhost();
        const network = delayNetwork({ preset, matching: "enforced" });
        await management.declare(vhost, network, endpoints);
        const channel = await openChannel(broker(), vhost);
        for (const name of endpoints) {
          await channel.assertExchange(name, "fanout", { durable: true });
          await channel.bindQueue(name, name, "");
        }
        const receiver = await Receiver.on(channel, endpoints);
        const sent = endpoints.flatMap((name) => [0, 1, 2, 3].map((seconds) => ({ name, seconds })));
        for (const { name, seconds } of sent)
          await sendDelayed(channel, generation, name, seconds, `${name} ${seconds}`);
        await receiver.until(sent.length);
        // What came twice or elsewhere comes before what is sent last.
        for (const name of endpoints) await sendDelayed(channel, generation, name, 1, `${name} last`);
        const arrivals = await receiver.until(sent.length + endpoints.length);
        assert.equal(arrivals.length, sent.length + endpoints.length, endpoints.join(", "));
        for (const { queue, message } of arrivals) {
          assert.equal(queue, message.content.toString().split(" ")[0], endpoints.join(", "));
        }
      }

      it(`${preset}: gives each destination its own messages alone, whatever NServiceBus's senders bind`, async () => {
        await Promise.all(fc.sample(names, RUNS).map((endpoints) => sendAndReceive(endpoints)));
      });
    }

    it("is another one than the vendor's client would declare: its set-up is refused, and changes nothing", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      await management.declare(vhost, delayNetwork({ preset: "nservicebus", matching: "enforced" }), []);
      const channel = await openChannel(broker(), vhost, { isExpectedToBreak: true });
      await assert.rejects(
        declareAsNServiceBus(channel, generations.v2),
        /PRECONDITION_FAILED.*inequivalent arg 'x-dead-letter-exchange' for queue 'nsb\.v2\.delay-level-00'/,
      );
    });
  });

  it("takes names that the vendor's clients mix up, which the same preset refuses without it", () => {
    fc.assert(
      fc.property(names, (endpoints) => {
        const boundIn = (matching: "exact" | "enforced"): Parameters<typeof checkEndpointsApart>[0] =>
          endpoints.flatMap((name) => planBinding(delayNetwork({ preset: "nservicebus", matching }), { name }).bound);
        checkEndpointsApart(boundIn("enforced"));
        const isMixed = endpoints.some((one) => endpoints.some((other) => one !== other && one.endsWith(`.${other}`)));
        if (isMixed) assert.throws(() => checkEndpointsApart(boundIn("exact")), /would both get some messages/);
        else checkEndpointsApart(boundIn("exact"));
      }),
    );
  });
});
