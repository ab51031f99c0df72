import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import {
  BindingPlan,
  DelayTopologyError,
  DelayedExchangeOptions,
  EntityPlan,
  PolicyPlan,
  delayedExchange,
  parseDelayedExchange,
  planDelayedExchange,
} from "@rabbitmq-delay/topology";

/** Where the broker takes a message: to queues, and whether it waits there. Written down from its documentation, not from the plan. */
function routed(
  plan: EntityPlan & { policies: PolicyPlan[] },
  from: string,
  headers: Record<string, unknown>,
): string[] {
  const exchange = plan.exchanges.find(({ name }) => name === from);
  if (exchange === undefined) return [from];
  const isTaken = ({ source, arguments: wanted }: BindingPlan): boolean => {
    if (source !== from) return false;
    if (exchange.type !== "headers") return exchange.type === "fanout";
    const { "x-match": match = "all", ...compared } = wanted ?? {};
    const own = Object.entries(compared).filter(([name]) => match === "all-with-x" || !name.startsWith("x-"));
    return own.every(([name, value]) => headers[name] === value);
  };
  const taken = plan.bindings.filter(isTaken);
  if (taken.length > 0)
    return taken.flatMap(({ destination, destinationType }) =>
      destinationType === "queue" ? [destination] : routed(plan, destination, headers),
    );
  const policy = plan.policies.find(({ pattern }) => new RegExp(pattern).test(from));
  if (exchange.name.endsWith(".delivery") || policy === undefined) return [from];
  return routed(plan, String(policy.definition["alternate-exchange"]), headers);
}

const delays = fc.uniqueArray(fc.integer({ min: 1, max: 315_360_000_000 }), { minLength: 1, maxLength: 20 });
const shapes = fc.record(
  {
    exchange: fc.constantFrom("orders", "a.b", "Ünïcode (1)"),
    delays,
    type: fc.constantFrom("topic", "direct", "fanout", "headers"),
    queueType: fc.constantFrom("quorum", "classic"),
    otherwise: fc.constantFrom("delayed", "somewhere.else"),
    delivery: fc.constantFrom("x.delivery"),
  },
  { requiredKeys: ["exchange", "delays"] },
) as fc.Arbitrary<DelayedExchangeOptions>;

describe("a delayed exchange", () => {
  it("takes each declared delay, as a number and as a text, to its own queue, and 0 to the delivery exchange at once", () => {
    fc.assert(
      fc.property(shapes, (options) => {
        const descriptor = delayedExchange(options);
        const plan = planDelayedExchange(descriptor);
        for (const delayMs of descriptor.delaysMs) {
          for (const header of [delayMs, `${delayMs}`]) {
            const [queue, ...more] = routed(plan, descriptor.exchange, { "x-delay": header });
            assert.deepEqual(more, []);
            const found = plan.queues.find(({ name }) => name === queue);
            assert.equal(found?.arguments["x-message-ttl"], delayMs);
            assert.equal(found?.arguments["x-dead-letter-exchange"], descriptor.delivery);
            assert.equal(found?.arguments["x-dead-letter-routing-key"], undefined, "the key stays");
          }
        }
        for (const header of [0, "0"])
          assert.deepEqual(routed(plan, descriptor.exchange, { "x-delay": header }), [descriptor.delivery]);
      }),
    );
  });

  it("never delivers what has another delay, or none: it is parked, or goes where it was told", () => {
    fc.assert(
      fc.property(shapes, fc.oneof(fc.integer(), fc.string(), fc.constant(undefined)), (options, header) => {
        const descriptor = delayedExchange(options);
        const declared: unknown[] = [0, "0", ...descriptor.delaysMs.flatMap((delayMs) => [delayMs, `${delayMs}`])];
        fc.pre(!declared.includes(header));
        const end = descriptor.otherwise ?? descriptor.parkingQueue;
        const headers = header === undefined ? {} : { "x-delay": header };
        assert.deepEqual(routed(planDelayedExchange(descriptor), descriptor.exchange, headers), [end]);
      }),
    );
  });

  it("is read back from its descriptor, and refused with any part of it changed", () => {
    fc.assert(
      fc.property(shapes, (options) => {
        const descriptor = delayedExchange(options);
        const read = JSON.parse(JSON.stringify(descriptor)) as Record<string, unknown>;
        assert.deepEqual(parseDelayedExchange(read), descriptor);
        for (const key of ["parkingQueue", "delivery", "delaysMs", "queueType", "atLeastOnce"]) {
          assert.throws(() => parseDelayedExchange({ ...read, [key]: undefined }), DelayTopologyError, key);
        }
        assert.throws(() => parseDelayedExchange({ ...read, more: 1 }), DelayTopologyError);
      }),
    );
  });

  it("leaves a delivery exchange of others to them", () => {
    const descriptor = delayedExchange({
      exchange: "orders",
      delays: ["5s"],
      delivery: "shop",
      declareDelivery: false,
    });
    const { exchanges, policies } = planDelayedExchange(descriptor);
    assert.deepEqual(
      exchanges.map(({ name }) => name),
      ["orders.parking", "orders"],
    );
    assert.deepEqual(
      policies.map(({ pattern }) => pattern),
      ["^(?:orders\\.otherwise\\..+)$", "^(?:orders)$"],
    );
    assert.deepEqual(parseDelayedExchange(JSON.parse(JSON.stringify(descriptor))), descriptor);
  });

  const base = { exchange: "orders", delays: [5000] };
  for (const [given, message] of [
    [{ delays: [1] }, /^exchange: undefined is not allowed/],
    [{ ...base, exchange: "amq.headers" }, /^exchange: .*belong to the broker/],
    [{ ...base, delays: [] }, /^delays: .*at least one delay/],
    [{ ...base, delays: [5000, "5s"] }, /^delays\[1\]: "5s" is not allowed; 5000 ms stands in the list already/],
    [{ ...base, delays: Array.from({ length: 301 }, (_, index) => index + 1) }, /^delays: .*at most 300 delays/],
    [{ ...base, delivery: "orders" }, /^delivery: "orders" is not allowed; it is this exchange's own/],
    [{ ...base, otherwise: "orders.parking" }, /^otherwise: .*this exchange's own/],
    [{ ...base, otherwise: "orders.delivery" }, /^otherwise: .*would be delivered at once/],
    [{ ...base, declareDelivery: false, type: "topic" }, /^type: "topic" is not allowed; .*leave it out/],
    [{ ...base, exchange: "a".repeat(245) }, /^exchange: .*255 bytes/],
    [{ ...base, atLeastOnce: true, queueType: "classic" }, /^atLeastOnce: true is not allowed; classic queues can't/],
    [{ ...base, queueTyp: "classic" }, /^queueTyp: .*did you mean queueType\?/],
  ] as const) {
    it(`is refused as ${JSON.stringify(given).slice(0, 80)}`, () => {
      assert.throws(
        () => delayedExchange(given as never),
        (error: Error) => error instanceof DelayTopologyError && message.test(error.message),
      );
    });
  }
});
