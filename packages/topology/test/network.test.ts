import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { DelayNetworkOptions, DelayTopologyError, delayNetwork, parseDelayNetwork } from "rabbitmq-delay-topology";
import { anyNetwork } from "./arbitraries";

describe("delayNetwork", () => {
  it("keeps the vendors' names", () => {
    const names = (options: DelayNetworkOptions): string[] => {
      const { entryExchanges, deliveryExchange } = delayNetwork(options);
      return [entryExchanges[0] as string, entryExchanges[27] as string, deliveryExchange];
    };
    assert.deepEqual(names({ preset: "nservicebus" }), [
      "nsb.v2.delay-level-00",
      "nsb.v2.delay-level-27",
      "nsb.v2.delay-delivery",
    ]);
    assert.deepEqual(names({ preset: "nservicebus-v1" }), [
      "nsb.delay-level-00",
      "nsb.delay-level-27",
      "nsb.delay-delivery",
    ]);
    assert.deepEqual(names({ preset: "celery" }), ["celery_delayed_0", "celery_delayed_27", "celery_delayed_delivery"]);
    assert.deepEqual(names({ preset: "celery", prefix: "shop" })[1], "shop_celery_delayed_27");
  });

  it("puts the shape into own names", () => {
    const network = delayNetwork({ preset: "custom", prefix: "orders", radix: 4, levels: 14, unitMs: 1000 });
    assert.equal(network.entryExchanges[7], "orders.r4x14u1000.level-07");
    assert.equal(network.deliveryExchange, "orders.r4x14u1000.delivery");
  });

  const refused: [string, object, RegExp][] = [
    [
      "an unknown preset",
      { preset: "masstransit" },
      /^preset: "masstransit" is not allowed; it must be one of nservicebus, /,
    ],
    [
      "an unknown radix",
      { preset: "custom", prefix: "a", radix: 3 },
      /^radix: 3 is not allowed; it must be one of 2, 4, 8, 16/,
    ],
    ["another radix for a vendor", { preset: "celery", radix: 4 }, /^radix: 4 is not allowed; preset celery .* 2/],
    ["no levels", { preset: "custom", prefix: "a", levels: 0 }, /^levels: 0 is not allowed; .* from 1 to 127/],
    ["a fraction of levels", { preset: "custom", prefix: "a", levels: 1.5 }, /^levels: 1.5 /],
    ["no unit", { preset: "custom", prefix: "a", unitMs: 0 }, /^unitMs: 0 is not allowed/],
    ["NaN", { preset: "custom", prefix: "a", unitMs: Number.NaN }, /^unitMs: NaN is not allowed/],
    ["an overflowing TTL", { preset: "custom", prefix: "a", radix: 2, levels: 40 }, /^levels: 40 .* at most 29 levels/],
    ["no prefix", { preset: "custom" }, /^prefix: undefined is not allowed/],
    [
      "an @ in the prefix",
      { preset: "custom", prefix: "a@b" },
      /^prefix: "a@b" is not allowed; it must not contain @ or \//,
    ],
    [
      "a long prefix",
      { preset: "custom", prefix: "a".repeat(240) },
      /^prefix: .*it has 240 bytes; .* at most \d+ bytes/,
    ],
    ["a reserved prefix", { preset: "custom", prefix: "amq.a" }, /^prefix: .*belong to the broker/],
    ["a prefix for NServiceBus", { preset: "nservicebus", prefix: "a" }, /^prefix: .*leave it out/],
    ["classic queues for NServiceBus v2", { preset: "nservicebus", queueType: "classic" }, /^queueType: .*quorum/],
    ["an unknown property", { preset: "celery", radixx: 2 }, /^radixx: 2 is not allowed; known properties/],
    ["an unknown matching", { preset: "celery", matching: "fuzzy" }, /^matching: "fuzzy"/],
  ];
  for (const [what, options, message] of refused) {
    it(`refuses ${what}, naming property, value and what is allowed`, () => {
      assert.throws(
        () => delayNetwork(options as DelayNetworkOptions),
        (error: Error) =>
          error instanceof DelayTopologyError && message.test(error.message) && !error.message.includes("\n"),
      );
    });
  }
});

describe("parseDelayNetwork", () => {
  it("takes what a stack exports", () => {
    fc.assert(
      fc.property(anyNetwork, (network) =>
        assert.deepEqual(parseDelayNetwork(JSON.parse(JSON.stringify(network))), network),
      ),
    );
  });

  it("refuses another version, another kind and tampered names", () => {
    const network = delayNetwork({ preset: "celery" });
    assert.throws(
      () => parseDelayNetwork({ ...network, version: 2 }),
      /network\.version: 2 is not allowed; this release reads version 1/,
    );
    assert.throws(() => parseDelayNetwork({ ...network, kind: "retry-intervals" }), /network\.kind/);
    assert.throws(() => parseDelayNetwork({ ...network, entryExchanges: ["x"] }), /network\.entryExchanges/);
    assert.throws(() => parseDelayNetwork({ ...network, maximumDelayMs: 1 }), /network\.maximumDelayMs/);
    assert.throws(() => parseDelayNetwork({ ...network, parkingQueue: undefined }), /network\.parkingQueue/);
    for (const value of [null, undefined, "text", []])
      assert.throws(() => parseDelayNetwork(value), DelayTopologyError);
  });
});
