import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import {
  DelayTopologyError,
  HoldDestination,
  HoldQueuesOptions,
  HoldSettingsOptions,
  declaredHoldQueue,
  holdQueues,
  holdSettings,
  parseHoldQueues,
  planHoldQueue,
  planHoldQueues,
  utf8Length,
} from "@rabbitmq-delay/topology";

const destinations: HoldDestination[] = [
  { exchange: "orders", routingKey: "paid.now" },
  { exchange: "", routingKey: "Billing" },
];

describe("holdQueues", () => {
  it("plans a queue per duration and destination", () => {
    const descriptor = holdQueues({ delays: ["1m", 5000], destinations, leaseMs: 60_000 });
    assert.deepEqual(
      planHoldQueues(descriptor).map(({ name }) => name),
      [
        "hold.5000+60000.6:orders:paid.now",
        "hold.60000+60000.6:orders:paid.now",
        "hold.5000+60000.0::Billing",
        "hold.60000+60000.0::Billing",
      ],
    );
    assert.deepEqual(planHoldQueues(descriptor)[0]?.arguments, {
      "x-queue-type": "classic",
      "x-message-ttl": 5000,
      "x-expires": 65_000,
      "x-dead-letter-exchange": "orders",
      "x-dead-letter-routing-key": "paid.now",
    });
  });

  it("without a lease, queues stay, and may be quorum", () => {
    const { arguments: values } = planHoldQueue(holdSettings({ queueType: "quorum" }), 5, {
      exchange: "",
      routingKey: "a",
    });
    assert.equal(values["x-expires"], undefined);
    assert.equal(values["x-dead-letter-strategy"], "at-least-once");
  });

  const text = fc.oneof(fc.stringMatching(/^[ab:.%@/+0-9é]{0,6}$/), fc.string({ unit: "binary", maxLength: 130 }));
  const parameters = fc
    .record({
      settings: fc.oneof(
        fc.record({ prefix: fc.constantFrom("hold", "hold.5", "h"), leaseMs: fc.constantFrom(5, 55, undefined) }),
        fc.record({ queueType: fc.constant("quorum" as const), atLeastOnce: fc.boolean() }),
      ) as fc.Arbitrary<HoldSettingsOptions>,
      delayMs: fc.constantFrom(1, 5, 55),
      exchange: text,
      routingKey: text,
    })
    .filter(({ exchange, routingKey }) => utf8Length(exchange) < 256 && utf8Length(routingKey) < 256)
    .filter(({ exchange, routingKey }) => exchange + routingKey !== "");

  it("equal parameters have the same name, others never, and each has room for it", () => {
    const nameOf = ({
      settings,
      delayMs,
      exchange,
      routingKey,
    }: typeof parameters extends fc.Arbitrary<infer T> ? T : never): string =>
      planHoldQueue(holdSettings(settings), delayMs, { exchange, routingKey }).name;
    fc.assert(
      fc.property(parameters, parameters, (one, other) => {
        // Left out is the same as the default.
        const same = JSON.stringify({ ...one, settings: holdSettings(one.settings) });
        const isSame = same === JSON.stringify({ ...other, settings: holdSettings(other.settings) });
        assert.equal(nameOf(one) === nameOf(other), isSame);
        assert.equal(nameOf(one), nameOf(JSON.parse(JSON.stringify(one)) as typeof one));
        assert.ok(utf8Length(nameOf(one)) <= 255);
        assert.ok(!/[@/]/.test(nameOf(one)), "the provider's ids have these");
      }),
      { numRuns: 2000 },
    );
  });

  it("always expires later than its messages, by the lease", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 1e9 }), (delayMs, leaseMs) => {
        const plan = planHoldQueue(holdSettings({ leaseMs }), delayMs, { exchange: "a", routingKey: "" });
        assert.equal(Number(plan.arguments["x-expires"]) - Number(plan.arguments["x-message-ttl"]), leaseMs);
      }),
    );
  });

  it("reads back what it exports, and says what there is", () => {
    const descriptor = holdQueues({ delays: [5], destinations, prefix: "later" });
    assert.deepEqual(parseHoldQueues(JSON.parse(JSON.stringify(descriptor))), descriptor);
    assert.throws(() => declaredHoldQueue(descriptor, 6, destinations[0] as HoldDestination), /delayMs: 6 .*5 ms/);
    assert.throws(
      () => declaredHoldQueue(descriptor, 5, { exchange: "x", routingKey: "y" }),
      /destination: .*orders → paid\.now, \(default\) → Billing/,
    );
  });

  it("takes no default for what a descriptor lacks: messages would go to queues that nobody declared", () => {
    const descriptor = holdQueues({ delays: [5], destinations, prefix: "later", queueType: "quorum" });
    for (const name of ["prefix", "queueType"])
      assert.throws(
        () => parseHoldQueues({ ...descriptor, [name]: undefined }),
        new RegExp(`holdQueues.${name}: undefined`),
      );
  });

  const refused: [string, object, RegExp][] = [
    ["no delays", { delays: [] }, /delays: \[\]/],
    ["a fraction", { delays: [0.5] }, /delays\[0\]: 0\.5/],
    ["no destinations", { destinations: [] }, /destinations: \[\]/],
    ["one destination twice", { destinations: [destinations[0], destinations[0]] }, /destinations\[1\]: .*already/],
    ["no destination at all", { destinations: ["orders"] }, /destinations\[0\]: this text is not/],
    [
      "a destination without an exchange",
      { destinations: [{ routingKey: "a" }] },
      /destinations\[0\]\.exchange: undefined/,
    ],
    ["nowhere", { destinations: [{ exchange: "", routingKey: "" }] }, /destinations\[0\]\.routingKey: "".*queue/],
    ["a long key", { destinations: [{ exchange: "", routingKey: "é".repeat(128) }] }, /routingKey: .*256 bytes/],
    ["a lease of nothing", { leaseMs: 0 }, /leaseMs: 0 is not allowed; .*from 1/],
    ["a lease over the broker's limit", { leaseMs: 315_360_000_000 }, /leaseMs: 315360000000 .*to 315359999995/],
    [
      "a leased quorum queue",
      { leaseMs: 5, queueType: "quorum" },
      /leaseMs: 5 .*does not renew a quorum queue's lease/,
    ],
    ["a prefix with a colon", { prefix: "a:b" }, /prefix: "a:b"/],
    ["what it doesn't know", { ttl: 1 }, /ttl: unknown property; known/],
  ];
  for (const [what, options, message] of refused) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => holdQueues({ delays: [5], destinations, ...options } as HoldQueuesOptions),
        (error: Error) => {
          assert.ok(error instanceof DelayTopologyError);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
