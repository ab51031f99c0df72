import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { Delivery, MalformedCopyError, errorHeaders, originalRoutingKeyHeader, redeliveriesHeader } from "..";
import { copyProperties, restore } from "../dist/retry/envelope";

const text = fc.string({ maxLength: 12 });
const headerNames = fc.oneof(
  text.filter(
    (name) => name !== "" && !/^x-(death$|first-death-|last-death-|delivery-count$|acquired-count$)/.test(name),
  ),
  fc.constantFrom("CC", "x-delay", originalRoutingKeyHeader, errorHeaders.reason, "tenant"),
);
const properties = fc.record(
  {
    contentType: text,
    contentEncoding: text,
    priority: fc.nat(255),
    correlationId: text,
    replyTo: text,
    messageId: text,
    timestamp: fc.nat(),
    type: text,
    userId: text,
    appId: text,
    expiration: fc.nat().map(String),
    headers: fc.dictionary(headerNames, fc.oneof(text, fc.nat(), fc.array(text, { maxLength: 3 })), {
      noNullPrototype: true,
    }),
  },
  { requiredKeys: ["headers"], noNullPrototype: true },
);
const messages: fc.Arbitrary<Delivery> = fc.record({
  exchange: text,
  routingKey: text,
  body: fc.uint8Array({ maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
  properties,
});

/** What a broker does to a message on its round: another exchange and key, no expiration, its own death headers. */
function round(original: Delivery, redeliveries: number): Delivery {
  const copy = copyProperties(original, redeliveries, { "x-delay": 5 });
  const headers = {
    ...copy.headers,
    "x-death": [{ count: redeliveries }],
    "x-first-death-queue": "mt-delay-5",
    "x-delivery-count": 1,
  };
  return { exchange: "mt-delay-return", routingKey: "work", body: original.body, properties: { ...copy, headers } };
}

describe("a copy of a failed message", () => {
  it("comes back as any message it was, however often it goes round", () => {
    fc.assert(
      fc.property(messages, fc.integer({ min: 1, max: 5 }), (original, rounds) => {
        let current = { ...original, redeliveries: 0 };
        for (let done = 0; done < rounds; done++) current = restore(round(current, current.redeliveries + 1));
        assert.deepEqual(current, { ...original, redeliveries: rounds });
      }),
    );
  });

  it("is neither early, refused, nor sent elsewhere", () => {
    const headers = { CC: ["other"], "x-death": [{}], "x-last-death-reason": "expired", tenant: "a" };
    const original = {
      exchange: "orders",
      routingKey: "paid",
      body: Buffer.from(""),
      properties: { expiration: "5", userId: "shop", headers },
    };
    const copy = copyProperties(original, 1);
    assert.ok(!("expiration" in copy) && !("userId" in copy));
    assert.deepEqual(
      Object.keys(copy.headers ?? {}).filter((name) => name === "CC" || name.includes("death")),
      [],
    );
    assert.equal(copy.headers?.[originalRoutingKeyHeader], "paid");
    assert.equal(copy.headers?.tenant, "a");
  });

  it("is told from what others wrote under our names", () => {
    const of = (headers: Record<string, unknown>): Delivery => ({
      exchange: "",
      routingKey: "work",
      body: Buffer.from(""),
      properties: { headers },
    });
    assert.equal(restore(of({ tenant: "a" })).redeliveries, 0);
    assert.throws(() => restore(of({ [redeliveriesHeader]: "many" })), MalformedCopyError);
    assert.throws(() => restore(of({ [redeliveriesHeader]: 0 })), MalformedCopyError);
    assert.throws(() => restore(of({ [redeliveriesHeader]: 1 })), /rabbitmq-delay\.original/);
  });
});
