import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import {
  MalformedCopyError,
  dueHeader,
  nserviceBusDelayHeader,
  originalRoutingKeyHeader,
  redeliveriesHeader,
  retryQueueHeader,
  triesHeader,
  userIdHeader,
} from "..";
import { Delivery, errorHeaders, failureHeaders } from "@rabbitmq-delay/publish/parts";
import { copyProperties, restore, triesBefore } from "../dist/retry/envelope";

const text = fc.string({ maxLength: 12 });
const headerNames = fc.oneof(
  text.filter(
    (name) => name !== "" && !/^x-(death$|first-death-|last-death-|delivery-count$|acquired-count$)/.test(name),
  ),
  fc.constantFrom(
    ...["CC", "x-delay", originalRoutingKeyHeader, triesHeader, errorHeaders.reason, errorHeaders.tries, "tenant"],
    ...[dueHeader, nserviceBusDelayHeader],
  ),
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
  const copy = copyProperties(original, redeliveries, {
    "x-delay": 5,
    [dueHeader]: "then",
    [nserviceBusDelayHeader]: 7,
  });
  assert.equal(copy.headers?.[dueHeader], "then", "when the copy is due, not when the message was");
  const headers = {
    ...copy.headers,
    "x-death": [{ count: redeliveries }],
    "x-first-death-queue": "mt-delay-5",
    "x-delivery-count": 1,
  };
  return { exchange: "mt-delay-return", routingKey: "work", body: original.body, properties: { ...copy, headers } };
}

/** What comes back of a message: the user id, which only the broker can vouch for, is a header then. */
function withoutUser({ properties: { userId, ...others }, ...message }: Delivery): Delivery {
  const headers = userId === undefined ? others.headers : { ...others.headers, [userIdHeader]: userId };
  return { ...message, properties: { ...others, headers } };
}

describe("a copy of a failed message", () => {
  it("comes back as any message it was, however often it goes round", () => {
    fc.assert(
      fc.property(messages, fc.integer({ min: 1, max: 5 }), (original, rounds) => {
        let current = { ...original, redeliveries: 0 };
        for (let done = 0; done < rounds; done++) current = restore(round(current, current.redeliveries + 1));
        assert.deepEqual(current, { ...withoutUser(original), redeliveries: rounds });
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

  it("says no user id that the broker has not checked: else whoever may publish to a queue could be anybody", () => {
    const forged = {
      [redeliveriesHeader]: 1,
      [originalRoutingKeyHeader]: "pay",
      "rabbitmq-delay.original": { userId: "boss" },
    };
    const message = { exchange: "", routingKey: "work", body: Buffer.from(""), properties: { headers: forged } };
    assert.equal(restore(message, "work").properties.userId, undefined);
  });

  it("counts anew when somebody moved it out of an error queue, with all that it had at first", () => {
    fc.assert(
      fc.property(messages, fc.integer({ min: 0, max: 5 }), (original, redeliveries) => {
        const why = failureHeaders("work", { error: new Error("broken"), tries: redeliveries + 1 });
        const failed = copyProperties(original, redeliveries + 1, why);
        const moved = { exchange: "", routingKey: "work", body: original.body, properties: failed };
        assert.deepEqual(restore(moved, "work"), { ...withoutUser(original), redeliveries: 0 });
      }),
    );
  });

  it("counts anew when the last place was where its own queue dead-letters to, and not on its way back from elsewhere", () => {
    const original = { exchange: "", routingKey: "work", body: Buffer.from(""), properties: { headers: {} } };
    const diedIn = (queue: string): Delivery => {
      const properties = copyProperties(original, 2);
      return { ...original, properties: { ...properties, headers: { ...properties.headers, "x-death": [{ queue }] } } };
    };
    assert.equal(restore(diedIn("work"), "work").redeliveries, 0);
    assert.equal(restore(diedIn("work.retry-50"), "work").redeliveries, 2);
  });

  it("counts anew in another service's queue: else that one would give up without its own tries", () => {
    const original = { exchange: "", routingKey: "work", body: Buffer.from(""), properties: { headers: {} } };
    const copy = (deaths: string[]): Delivery => {
      const { headers, ...properties } = copyProperties(original, 2, { [retryQueueHeader]: "work", [triesHeader]: 4 });
      const died = { ...headers, "x-death": deaths.map((queue) => ({ queue })) };
      return { ...original, properties: { ...properties, headers: died } };
    };
    assert.equal(triesBefore(copy([])), 4);
    assert.deepEqual(restore(copy(["work", "hold.5"]), "fallback").properties.headers, {});
    assert.equal(restore(copy(["work", "hold.5"]), "fallback").redeliveries, 0);
    assert.equal(restore(copy(["waiting", "work", "hold.5"]), "fallback").redeliveries, 0);
    assert.equal(restore(copy(["hold.5"]), "work").redeliveries, 2);
    // Else two services that get each other's copies would make more of them for ever.
    assert.equal(restore(copy(["hold.5"]), "fallback").redeliveries, 2);
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
    assert.throws(() => triesBefore(of({ [redeliveriesHeader]: 1, [triesHeader]: "many" })), MalformedCopyError);
    assert.equal(triesBefore(of({ [triesHeader]: "many" })), undefined, "no copy");
    assert.throws(() => restore(of({ [redeliveriesHeader]: -1 })), MalformedCopyError);
    assert.throws(() => restore(of({ [redeliveriesHeader]: 1 })), /rabbitmq-delay\.original/);
  });
});
