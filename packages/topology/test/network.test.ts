import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import {
  DelayNetworkOptions,
  DelayTopologyError,
  delayNetwork,
  delayedRetry,
  delayedStore,
  parseDelayNetwork,
  planEntities,
  parseDelayedStore,
  parseRetryDescriptor,
  retryIntervals,
  workRetry,
} from "@rabbitmq-delay/topology";
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

  it("has levels that the broker takes where none are given, for any radix and unit that it takes", () => {
    const radixes = [2, 4, 8, 16] as const;
    fc.assert(
      fc.property(
        fc.constantFrom(...radixes),
        fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 315_360_000_000 })),
        fc.constantFrom("quorum" as const, "classic" as const),
        (radix, unitMs, queueType) => {
          const shape = { preset: "custom" as const, prefix: "a", radix, unitMs, queueType };
          if (unitMs * (radix - 1) > 315_360_000_000) {
            assert.throws(
              () => delayNetwork(shape),
              /^DelayTopologyError: unitMs: \d+ .*with radix \d+ it must be at most/,
            );
            return;
          }
          const network = delayNetwork(shape);
          const { queues } = planEntities(network);
          const longestMs = Math.max(...queues.map((queue) => Number(queue.arguments["x-message-ttl"] ?? 0)));
          assert.ok(longestMs <= 315_360_000_000, `${longestMs}`);
          const isAYear = network.maximumDelayMs >= 365 * 24 * 3600 * 1000;
          assert.ok(isAYear || longestMs * radix > 315_360_000_000, `${network.levels} levels could be more`);
        },
      ),
    );
    const { levels, maximumDelayMs } = delayNetwork({ preset: "custom", prefix: "a", radix: 16, unitMs: 100 });
    assert.deepEqual([levels, Math.floor(maximumDelayMs / 86_400_000)], [7, 310]);
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
    [
      "a radix in quotes",
      { preset: "custom", prefix: "a", radix: "16" },
      /^radix: .* it must be one of 2, 4, 8, 16, written without quotes$/,
    ],
    ["levels in quotes", { preset: "custom", prefix: "a", levels: "3" }, /^levels: .*, written without quotes$/],
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
      /^prefix: this text is not allowed; it must not contain @ or \//,
    ],
    [
      "a long prefix",
      { preset: "custom", prefix: "a".repeat(240) },
      /^prefix: .*it has 240 bytes; .* at most \d+ bytes/,
    ],
    ["a reserved prefix", { preset: "custom", prefix: "amq.a" }, /^prefix: .*belong to the broker/],
    ["a prefix for NServiceBus", { preset: "nservicebus", prefix: "a" }, /^prefix: .*leave it out/],
    ["classic queues for NServiceBus v2", { preset: "nservicebus", queueType: "classic" }, /^queueType: .*quorum/],
    [
      "an unknown property",
      { preset: "celery", radixx: 2 },
      /^radixx: unknown property; known properties .*did you mean radix\?/,
    ],
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
  it("takes what a stack exports, as an object or as JSON text", () => {
    fc.assert(
      fc.property(anyNetwork, (network) => {
        const text = JSON.stringify(network);
        assert.deepEqual(parseDelayNetwork(JSON.parse(text)), network);
        assert.deepEqual(parseDelayNetwork(text), network);
      }),
    );
  });

  it("refuses a text that holds no descriptor, and does not show the text, as readers of other descriptors do", () => {
    const work = workRetry({ queue: "work", delays: [1000] });
    assert.deepEqual(parseRetryDescriptor(JSON.stringify(work)), work);
    for (const text of ["hunter2", "{hunter2", '["hunter2"]', "", '"hunter2"', "7"]) {
      assert.throws(
        () => parseDelayNetwork(text),
        /^DelayTopologyError: network: this text is not allowed; it must be a delay network's descriptor \(an object with kind: delay-network\), or its JSON text$/,
      );
      assert.throws(
        () => parseDelayedStore(text),
        /^DelayTopologyError: delayedStore: this text is not allowed; it must be a descriptor \(an object with kind: delayed-store\), or its JSON text$/,
      );
      assert.throws(
        () => parseRetryDescriptor(text),
        /^DelayTopologyError: descriptor: this text is not allowed; it must be a descriptor \(an object with a kind: retry-intervals, .*\), or its JSON text$/,
      );
    }
    assert.throws(
      () => parseDelayNetwork(JSON.stringify(work)),
      /^DelayTopologyError: network\.kind: "work-retry" is not/,
    );
  });

  it("reads what an earlier release wrote, without a vhost", () => {
    fc.assert(
      fc.property(anyNetwork, (network) => {
        const earlier: Record<string, unknown> = { ...network, version: 1 };
        delete earlier.vhost;
        delete earlier.bindingExchange;
        // No earlier release enforced anything.
        if (network.matching === "enforced")
          return assert.throws(() => parseDelayNetwork(earlier), /network\.version: 1/);
        const read = parseDelayNetwork(earlier);
        assert.deepEqual(read, { ...earlier, bindingExchange: network.deliveryExchange });
        assert.deepEqual(parseDelayNetwork(read), read);
      }),
    );
  });

  it("has the vhost from its options, / by default, and refuses one that is none", () => {
    assert.equal(delayNetwork({ preset: "celery" }).vhost, "/");
    const network = delayNetwork({ preset: "celery", vhost: "orders" });
    assert.equal(parseDelayNetwork(network).vhost, "orders");
    for (const vhost of [undefined, "", 1, "a\u0000b", "x".repeat(256)])
      assert.throws(() => parseDelayNetwork({ ...network, vhost }), /network\.vhost/);
    assert.throws(() => parseDelayNetwork({ ...network, bindingExchange: "other" }), /network\.bindingExchange/);
  });

  // Programs in YAML and in other languages write so what they leave out; a descriptor's writer has filled everything in.
  it("takes null for an option that is not given, and refuses it in a descriptor", () => {
    const given = { preset: "celery", parking: null, prefix: null, matching: null, vhost: null } as never;
    const network = delayNetwork({ preset: "celery" });
    assert.deepEqual(delayNetwork(given), network);
    assert.throws(() => delayNetwork({ preset: null } as never), /^DelayTopologyError: preset: null is not allowed/);
    assert.throws(
      () => delayNetwork({ preset: "celery", park: null } as never),
      /^DelayTopologyError: park: unknown property/,
    );
    assert.throws(() => parseDelayNetwork({ ...network, matching: null }), /network\.matching: null is not allowed/);
    const work = workRetry({ queue: "work", delays: [1000], patterns: null, maxRetries: null } as never);
    assert.deepEqual(work, workRetry({ queue: "work", delays: [1000] }));
    assert.throws(() => parseRetryDescriptor({ ...work, patterns: null }), /\.patterns: null is not allowed/);
    assert.throws(() => workRetry({ queue: "work", delays: [null] } as never), /delays\[0\]: null is not allowed/);
    const store = { forwards: [{ exchange: "a", delivery: "b", type: null }] } as never;
    assert.equal(delayedStore(store).forwards[0]?.type, "topic");
  });

  // What was meant by it was missing, and nobody said so.
  it("refuses a property that no descriptor has, and does not show its value", () => {
    const network = delayNetwork({ preset: "celery" });
    assert.throws(
      () => parseDelayNetwork({ ...network, parkingQueu: "hunter2" }),
      /^DelayTopologyError: network\.parkingQueu: unknown property; known properties are kind, .*; did you mean parkingQueue\?$/,
    );
    assert.throws(() => parseDelayNetwork({ ...network, version: 1, x: 7 }), /network\.x: unknown property; known/);
    assert.deepEqual(parseDelayNetwork({ ...network, parkingQueu: undefined }), network);
    const retries = [
      retryIntervals({ intervals: [1000] }),
      workRetry({ queue: "a", delays: [1000] }),
      delayedRetry({ queue: "a", minMs: 1000 }),
    ];
    for (const descriptor of retries) {
      assert.deepEqual(parseRetryDescriptor(descriptor), descriptor);
      assert.throws(
        () => parseRetryDescriptor({ ...descriptor, queuetype: "hunter2" }),
        /queuetype: unknown property; known properties are kind, /,
      );
    }
    assert.throws(
      () => parseDelayedStore({ ...delayedStore({}), toQueue: false }),
      /toQueue: unknown property; known .*; did you mean toQueues\?$/,
    );
  });

  it("refuses another version, another kind and tampered names", () => {
    const network = delayNetwork({ preset: "celery" });
    assert.throws(
      () => parseDelayNetwork({ ...network, version: 3 }),
      /network\.version: 3 is not allowed; this release reads versions 1 and 2/,
    );
    assert.throws(() => parseDelayNetwork({ ...network, kind: "retry-intervals" }), /network\.kind/);
    assert.throws(() => parseDelayNetwork({ ...network, entryExchanges: ["x"] }), /network\.entryExchanges/);
    assert.throws(() => parseDelayNetwork({ ...network, maximumDelayMs: 1 }), /network\.maximumDelayMs/);
    assert.throws(() => parseDelayNetwork({ ...network, parkingQueue: undefined }), /network\.parkingQueue/);
    for (const value of [null, undefined, "text", []])
      assert.throws(() => parseDelayNetwork(value), DelayTopologyError);
  });

  /** A descriptor that says another shape or name than the network has: its messages would come at another time, or nowhere. */
  const tampered: [string, DelayNetworkOptions, object, RegExp][] = [
    [
      "another unit of NServiceBus",
      { preset: "nservicebus" },
      { unitMs: 100, maximumDelayMs: (2 ** 28 - 1) * 100 },
      /^network\.unitMs: 100 is not allowed; preset nservicebus has fixed names and arguments, so it must be 1000$/,
    ],
    ["another radix", { preset: "celery" }, { radix: 4 }, /^network\.radix: 4 .*celery.* must be 2$/],
    ["fewer levels", { preset: "nservicebus-v1" }, { levels: 27 }, /^network\.levels: 27 .* must be 28$/],
    [
      "classic queues of NServiceBus v2",
      { preset: "nservicebus" },
      { queueType: "classic" },
      /^network\.queueType: "classic" .* must be "quorum"$/,
    ],
    [
      "quorum queues of NServiceBus v1",
      { preset: "nservicebus-v1" },
      { queueType: "quorum" },
      /^network\.queueType: "quorum" .* must be "classic"$/,
    ],
    ["another prefix", { preset: "nservicebus" }, { prefix: "nsb.delay" }, /^network\.prefix: .* "nsb\.v2\.delay"$/],
    ["another prefix of Celery", { preset: "celery" }, { prefix: "shop" }, /^network\.prefix: .*"celery_delayed"$/],
    [
      "another delivery exchange",
      { preset: "nservicebus" },
      { deliveryExchange: "nsb.delay-delivery" },
      /^network\.deliveryExchange: "nsb\.delay-delivery" .* must be "nsb\.v2\.delay-delivery"$/,
    ],
    [
      "another parking exchange",
      { preset: "celery", prefix: "shop" },
      { parkingExchange: "parking" },
      /^network\.parkingExchange: "parking" .* must be "shop_celery_delayed_parking"$/,
    ],
    [
      "another parking queue",
      { preset: "nservicebus-v1" },
      { parkingQueue: "parking" },
      /^network\.parkingQueue: "parking" .* must be "nsb\.delay-parking"$/,
    ],
    [
      "a unit that the own name does not say",
      { preset: "custom", prefix: "own", radix: 4, levels: 3, unitMs: 1000 },
      { unitMs: 10, maximumDelayMs: 630 },
      /^network\.prefix: "own\.r4x3u1000" .* must be "NAME\.r4x3u10"$/,
    ],
    [
      "another delivery exchange of an own network",
      { preset: "custom", prefix: "own" },
      { deliveryExchange: "own.delivery" },
      /^network\.deliveryExchange: "own\.delivery" .* must be "own\.r4x13u1000\.delivery"$/,
    ],
  ];
  for (const [what, options, change, message] of tampered) {
    it(`refuses ${what}, naming the property and what it must be`, () => {
      const network = delayNetwork(options);
      assert.throws(
        () => parseDelayNetwork({ ...network, ...change }),
        (error: Error) => error instanceof DelayTopologyError && message.test(error.message),
      );
    });
  }

  it("takes Celery's own prefix and classic queues", () => {
    for (const options of [{ prefix: "shop" }, { queueType: "classic" as const }, { prefix: "a_celery_delayed" }]) {
      const network = delayNetwork({ preset: "celery", ...options });
      assert.deepEqual(parseDelayNetwork(network), network);
    }
  });
});
