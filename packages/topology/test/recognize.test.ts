import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { delayNetwork, levelQueueName, queueTtlMs } from "@rabbitmq-delay/topology";
import { networkOfDelivery, remainingMs } from "@rabbitmq-delay/topology/stack";
import { anyNetwork } from "./arbitraries";

describe("the name of the exchange that endpoints are bound to", () => {
  it("tells the network's shape", () => {
    fc.assert(
      fc.property(anyNetwork, (network) => {
        const found = networkOfDelivery(network.bindingExchange);
        const { preset, prefix, radix, levels, unitMs } = network;
        assert.deepEqual(
          [found?.preset, found?.prefix, found?.radix, found?.levels, found?.unitMs],
          [preset, prefix, radix, levels, unitMs],
        );
        if (preset === "custom") assert.equal(found?.queueType, network.queueType);
        else assert.equal(found?.matching === "enforced", network.matching === "enforced");
      }),
    );
  });

  it("is no other exchange's", () => {
    for (const name of ["", "orders", "amq.topic", "orders.r3x4u1000.delivery", "orders.r4x4u1000.level-00", "celery"])
      assert.equal(networkOfDelivery(name), undefined, name);
  });

  it("tells how long a message still waits below a level's queue", () => {
    const network = delayNetwork({ preset: "custom", prefix: "a", radix: 4, levels: 3, unitMs: 10 });
    // The lower levels at their highest digit, 3.
    assert.equal(
      remainingMs(network, levelQueueName(network, 2, 1)),
      queueTtlMs(network, 1, 3) + queueTtlMs(network, 0, 3),
    );
    assert.equal(remainingMs(network, levelQueueName(network, 0, 2)), 0);
    assert.equal(remainingMs(network, "other"), 0);
  });
});
