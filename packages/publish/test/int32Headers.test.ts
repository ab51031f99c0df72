import { strict as assert } from "node:assert";
import { EventEmitter } from "node:events";
import { createDelayPublisher, nserviceBusDelayHeader } from "@rabbitmq-delay/publish";
import { delayNetwork } from "@rabbitmq-delay/topology";

/** A stand-in for rabbitmq-client's channel whose inside is another than that of the releases that are known. */
class OtherChannel extends EventEmitter {
  readonly envelopes: { headers: Record<string, unknown> }[] = [];
  confirmSelect = (): Promise<void> => Promise.resolve();

  basicPublish(envelope: { headers: Record<string, unknown> }): Promise<void> {
    this.envelopes.push(envelope);
    return Promise.resolve();
  }
}

describe("a delay as a 32-bit integer", () => {
  it("is left out where rabbitmq-client's inside is not known: another type ends NServiceBus's tool for the whole network", async () => {
    const channel = new OtherChannel();
    const publisher = createDelayPublisher(channel, delayNetwork({ preset: "nservicebus" }));
    await publisher.publish("Billing", "x", { delayMs: 5000, headers: { tenant: "a" } });
    const [envelope] = channel.envelopes;
    assert.equal(envelope?.headers.tenant, "a");
    assert.equal(nserviceBusDelayHeader in (envelope?.headers ?? {}), false);
  });
});
