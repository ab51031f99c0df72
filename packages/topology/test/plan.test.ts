import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import {
  Endpoint,
  delayNetwork,
  formatDelay,
  parkingPolicy,
  parseDelay,
  parseDelayNetwork,
  planBinding,
  planEntities,
} from "@rabbitmq-delay/topology";
import { checkEndpointsApart, patternsOverlap, topicMatches } from "@rabbitmq-delay/topology/stack";
import { anyNetwork } from "./arbitraries";
import { regexOf } from "./walk";

describe("planEntities", () => {
  it("is 29 exchanges, 28 queues and 56 bindings for 28 binary levels, and parking beside", () => {
    const bare = planEntities(delayNetwork({ preset: "nservicebus", parking: false }));
    assert.deepEqual([bare.exchanges.length, bare.queues.length, bare.bindings.length], [29, 28, 56]);
    const parked = planEntities(delayNetwork({ preset: "nservicebus" }));
    assert.deepEqual([parked.exchanges.length, parked.queues.length, parked.bindings.length], [30, 29, 57]);
  });

  it("declares each level queue as NServiceBus does", () => {
    const { queues } = planEntities(delayNetwork({ preset: "nservicebus", parking: false }));
    queues.forEach((queue, level) => {
      const next = level === 0 ? "nsb.v2.delay-delivery" : `nsb.v2.delay-level-${String(level - 1).padStart(2, "0")}`;
      assert.deepEqual(queue.arguments, {
        "x-queue-type": "quorum",
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
        "x-message-ttl": 2 ** level * 1000,
        "x-dead-letter-exchange": next,
      });
    });
  });

  it("lets level 0 lead to an exchange that no client knows, where exact matching is enforced", () => {
    for (const preset of ["nservicebus", "nservicebus-v1"] as const) {
      const [plain, enforced] = [delayNetwork({ preset }), delayNetwork({ preset, matching: "enforced" })];
      const [before, after] = [planEntities(plain), planEntities(enforced)];
      const end = `${plain.prefix}-exact`;
      const replaced = <T>(value: T): T =>
        JSON.parse(JSON.stringify(value).replaceAll(`"${plain.deliveryExchange}"`, `"${end}"`)) as T;
      assert.deepEqual(after.exchanges[0], before.exchanges[0]);
      assert.deepEqual(after.exchanges.slice(1), replaced(before.exchanges));
      assert.deepEqual(after.queues, replaced(before.queues));
      assert.deepEqual(after.bindings, replaced(before.bindings));
      const { bindings, bound } = planBinding(enforced, { name: "Europe.Sales" });
      assert.deepEqual(
        bindings.map(({ source, routingKey }) => [source, routingKey]),
        [[end, `${"*.".repeat(28)}Europe.Sales`]],
      );
      assert.deepEqual(parseDelayNetwork(JSON.parse(JSON.stringify(enforced))), enforced);
      assert.equal(bound[0]?.clientKey, undefined);
    }
  });

  it("refuses to enforce what can't be, or needs not be", () => {
    for (const options of [{ preset: "celery" }, { preset: "custom", prefix: "a" }] as const) {
      assert.throws(
        () => delayNetwork({ ...options, matching: "enforced" }),
        /^DelayTopologyError: matching: "enforced"/,
      );
      const descriptor = { ...delayNetwork(options), matching: "enforced" };
      assert.throws(() => parseDelayNetwork(descriptor), /network\.matching: "enforced"/);
    }
    const plain = delayNetwork({ preset: "nservicebus" });
    assert.throws(() => parseDelayNetwork({ ...plain, matching: "enforced" }), /network\.bindingExchange/);
    assert.throws(
      () => parseDelayNetwork({ ...delayNetwork({ preset: "nservicebus", matching: "enforced" }), matching: "exact" }),
      /network\.bindingExchange/,
    );
  });

  it("names every entity once, and declares what it binds", () => {
    fc.assert(
      fc.property(anyNetwork, (network) => {
        const { exchanges, queues, bindings } = planEntities(network);
        const names = [exchanges, queues].map((entities) => new Set<string>(entities.map(({ name }) => name)));
        assert.deepEqual([names[0]?.size, names[1]?.size], [exchanges.length, queues.length]);
        for (const { source, destination, destinationType } of bindings) {
          assert.ok(names[0]?.has(source));
          assert.ok(names[destinationType === "exchange" ? 0 : 1]?.has(destination));
        }
      }),
    );
  });

  it("parks for each exchange of the network, and for no other", () => {
    fc.assert(
      fc.property(anyNetwork, (network) => {
        const policy = parkingPolicy(network);
        if (policy === undefined) return assert.equal(network.parkingExchange, undefined);
        const pattern = new RegExp(policy.pattern);
        const own = [...network.entryExchanges, network.deliveryExchange, network.bindingExchange];
        for (const name of own) assert.ok(pattern.test(name), name);
        assert.ok(!pattern.test(network.parkingExchange as string));
        assert.ok(!pattern.test(`${network.deliveryExchange}2`) && !pattern.test(`x${network.deliveryExchange}`));
      }),
    );
  });
});

describe("topic patterns", () => {
  const words = fc.constantFrom("a", "b", "*", "#", "");
  const pattern = fc.array(words, { minLength: 1, maxLength: 5 }).map((list) => list.join("."));
  const key = fc.array(fc.constantFrom("a", "b", ""), { minLength: 1, maxLength: 6 }).map((list) => list.join("."));

  it("match as a regular expression does", () => {
    fc.assert(
      fc.property(pattern, key, (one, text) => assert.equal(topicMatches(one, text), regexOf(one).test(text))),
      { numRuns: 3000 },
    );
  });

  it("overlap when some key matches both, and are told apart when none does", () => {
    fc.assert(
      fc.property(pattern, pattern, key, (one, other, text) => {
        if (topicMatches(one, text) && topicMatches(other, text)) assert.ok(patternsOverlap(one, other));
        assert.equal(patternsOverlap(one, other), patternsOverlap(other, one));
      }),
      { numRuns: 3000 },
    );
    assert.ok(!patternsOverlap("*.*.Sales", "*.*.Europe.Sales"));
    assert.ok(patternsOverlap("#.Sales", "#.Europe.Sales"));
    assert.ok(!patternsOverlap("#.Sales", "#.Sales.Europe"));
  });
});

describe("planBinding", () => {
  const exact = delayNetwork({ preset: "nservicebus" });
  const suffix = delayNetwork({ preset: "nservicebus", matching: "suffix" });
  const boundOf = (network: typeof exact, names: string[]): ReturnType<typeof planBinding>["bound"] =>
    names.flatMap((name) => planBinding(network, { name }).bound);

  it("binds a star for each level, or the vendors' suffix", () => {
    assert.equal(planBinding(exact, { name: "Sales" }).bindings[0]?.routingKey, `${"*.".repeat(28)}Sales`);
    assert.equal(planBinding(suffix, { name: "Sales" }).bindings[0]?.routingKey, "#.Sales");
  });

  const own = { preset: "custom", prefix: "orders" } as const;

  it("tells what suffix matching would mix from what exact matching keeps apart", () => {
    const names = ["Sales", "Europe.Sales", "Sales.Europe"];
    checkEndpointsApart(boundOf(delayNetwork(own), names));
    const mixing = delayNetwork({ ...own, matching: "suffix" });
    assert.throws(() => checkEndpointsApart(boundOf(mixing, names)), /Europe\.Sales.*Sales.*use matching exact/);
    assert.throws(() => checkEndpointsApart(boundOf(exact, ["Sales", "Sales"])), /bound twice/);
  });

  // An NServiceBus sender binds #.DESTINATION before each delayed send, so Sales got every delayed message of Europe.Sales.
  it("on vendors' presets, refuses what the vendors' clients mix, whatever matching says, unless the pair is allowed", () => {
    for (const preset of ["nservicebus", "nservicebus-v1", "celery"] as const) {
      for (const matching of ["exact", "suffix"] as const) {
        const network = delayNetwork({ preset, matching });
        for (const names of [
          ["Sales", "Europe.Sales"],
          ["Europe.Sales", "Sales"],
          ["Sales", "0.Sales"],
        ]) {
          assert.throws(() => checkEndpointsApart(boundOf(network, names)), /clients bind #\.Sales, .*preset custom/);
        }
        for (const pair of ["Sales with Europe.Sales", "Europe.Sales with Sales"]) {
          checkEndpointsApart(boundOf(network, ["Sales", "Europe.Sales"]), [pair]);
        }
        assert.throws(
          () => checkEndpointsApart(boundOf(network, ["Sales", "Asia.Sales"]), ["Sales with Europe.Sales"]),
          /add "Sales with Asia\.Sales" to allow/,
        );
        checkEndpointsApart(boundOf(network, ["Sales", "Sales.Europe", "Salesman", "x-Sales"]));
        assert.throws(() => checkEndpointsApart(boundOf(network, ["A", "A"]), ["A with A"]), /bound twice/);
      }
      const network = delayNetwork({ preset });
      const patterns = planBinding(network, { name: "Sales", patterns: ["Sales", "Europe.Sales"] }).bound;
      checkEndpointsApart(patterns);
      const wild = planBinding(network, { name: "Audit", patterns: ["*.Sales"] }).bound;
      assert.throws(() => checkEndpointsApart([...boundOf(network, ["Sales"]), ...wild]), /endpoints/);
    }
  });

  it("compares a thousand names without comparing each with each", () => {
    const names = Array.from({ length: 3000 }, (_, index) => `company.team-${index}.service`);
    checkEndpointsApart(boundOf(exact, names));
    assert.throws(() => checkEndpointsApart(boundOf(exact, [...names, "team-7.service"])), /team-7\.service/);
  });

  it("compares patterns, and refuses those that share a message", () => {
    const wild = planBinding(exact, { name: "Audit", patterns: ["orders.*"] }).bound;
    assert.throws(
      () => checkEndpointsApart([...wild, ...boundOf(exact, ["orders.paid"])]),
      /orders\.\*.*|orders\.paid/,
    );
    checkEndpointsApart([...wild, ...boundOf(exact, ["orders.paid.late"])]);
  });

  it("refuses wildcards in a name, # in a pattern, and what no key has room for", () => {
    assert.throws(() => planBinding(exact, { name: "a.*" }), /endpoint\.name.*wildcards/);
    assert.throws(() => planBinding(exact, { name: "a", patterns: ["b.#"] }), /endpoint\.patterns\[0\]/);
    assert.throws(() => planBinding(exact, { name: "a", patterns: [] }), /endpoint\.patterns/);
    assert.throws(() => planBinding(exact, { name: "x".repeat(200) }), /200 bytes, at most 199/);
    const short = delayNetwork({ preset: "custom", prefix: "orders", radix: 4, levels: 4 });
    assert.throws(
      () => planBinding(short, { name: "x".repeat(255) }),
      /^DelayTopologyError: endpoint\.name: .*at most 222/,
    );
    // A name, or a pattern, beyond the broker's limit was told that one, and then a lower one.
    const tooLong: [Endpoint, RegExp][] = [
      [{ name: "x".repeat(256) }, /endpoint\.name: .*256 bytes, at most 199/],
      [{ name: "x".repeat(256), patterns: ["a"] }, /endpoint\.name: .*256 bytes, at most 222/],
      [{ name: "a", patterns: ["x".repeat(248)] }, /endpoint\.patterns\[0\]: .*248 bytes, at most 199/],
    ];
    for (const [endpoint, limit] of tooLong) assert.throws(() => planBinding(exact, endpoint), limit);
    assert.throws(() => planBinding(short, { name: "a", patterns: ["x".repeat(248)] }), /patterns\[0\]: .*at most 222/);
    assert.throws(() => planBinding(short, { name: "a", patterns: [`*.${"x".repeat(246)}`] }), /at most 247/);
    assert.equal(planBinding(exact, { name: "x".repeat(199) }).bindings[0]?.routingKey.length, 255);
    assert.throws(() => planBinding(exact, { name: "a", type: "topic" as "queue" }), /endpoint\.type/);
  });
});

describe("parseDelay", () => {
  const read: [string, number][] = [
    ["1500ms", 1500],
    ["10s", 10_000],
    ["1.001s", 1001],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["3d", 259_200_000],
    ["PT1M30S", 90_000],
    ["P1DT2H", 93_600_000],
    ["P2W", 1_209_600_000],
    ["0s", 0],
  ];
  for (const [text, ms] of read) it(`reads ${text}`, () => assert.equal(parseDelay(text), ms));
  for (const text of ["", "10", "s", "-5s", "1 h", "P", "PT", "P1Y", "P1M", "NaN", "Infinitys"]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => parseDelay(text), /^DelayTopologyError: delay: /));
  }

  it("reads what formatDelay writes", () => {
    fc.assert(fc.property(fc.nat(), (ms) => assert.equal(parseDelay(formatDelay(ms)), ms)));
  });
});
