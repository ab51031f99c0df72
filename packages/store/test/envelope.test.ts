import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { NewDelayedMessage, delayedMessage } from "@rabbitmq-delay/store";
import { toSendable } from "../../publish/dist/sendable";
import { undeliveredCopy } from "../dist/dispatch/parking";
import { delayGateway, delayNetwork } from "@rabbitmq-delay/topology";
import {
  Returned,
  Sending,
  Waiting,
  checkReturned,
  firstWaitMs,
  leftMs,
  unwrap,
  wrap,
} from "@rabbitmq-delay/store/testing";

const network = delayNetwork({ preset: "custom", prefix: "fine", radix: 4, levels: 6, unitMs: 10 });
const gateway = delayGateway({
  network,
  forwards: [{ exchange: "shop", delivery: "shop.delivery" }],
  exchanges: ["x"],
});
const NOW_MS = Date.parse("2030-01-01T00:00:00Z");
const now: Sending = { sender: "me", elapsedMs: 5000, timeMs: NOW_MS };

const word = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text !== "!" && !text.includes("\0"));
const properties = fc.record(
  {
    contentType: word,
    priority: fc.nat(9),
    correlationId: word,
    expiration: fc.nat(100_000).map(String),
    headers: fc.dictionary(word, fc.oneof(word, fc.integer(), fc.boolean(), fc.array(word)), { noNullPrototype: true }),
  },
  { requiredKeys: ["headers"], noNullPrototype: true },
);
const waiting: fc.Arbitrary<Waiting> = fc
  .record({
    exchange: fc.constantFrom("shop.delivery", "x", ""),
    routingKey: word,
    body: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
    properties,
    messageId: word,
    waitMs: fc.nat(10_000_000),
    failureCount: fc.nat(5),
    refusal: fc.option(word, { nil: undefined }),
  })
  .map(({ waitMs, failureCount, refusal, ...message }) => ({
    message: { ...message, dueAt: new Date(NOW_MS + waitMs) },
    waitMs,
    failureCount,
    ...(refusal === undefined ? {} : { refusal }),
  }));

/** What comes back of a message that was sent. */
function back(one: Waiting, sent = now): Returned {
  const { messageId, properties: carried, ...delivery } = wrap(one, gateway, sent);
  return unwrap({ ...delivery, properties: { ...carried, messageId } });
}

describe("a message on its way through a network", () => {
  // A list of empty texts is larger in AMQP than in JSON. Its copy for the error queue could not be sent, and the store kept it for ever.
  it("can be sent in its envelope and to the error queue, however large what an intake takes", () => {
    const library = { name: "amqplib", maximumPropertiesBytes: 65_216 } as const;
    const [longest, text] = ["k".repeat(255), "\u20AC".repeat(85)];
    const names = ["contentType", "contentEncoding", "correlationId", "replyTo", "messageId", "type", "appId"];
    const shortTexts = Object.fromEntries(names.map((name) => [name, longest]));
    const take = (list: unknown[]): NewDelayedMessage =>
      delayedMessage({
        ...{ ...shortTexts, expiration: "4294967295", priority: 1, timestamp: 2 ** 40 },
        headers: { "x-delay": 1, list, "rabbitmq-delay.user-id": text },
        ...{ delayMs: 1, exchange: longest, routingKey: longest, body: "" },
      });
    const isTaken = (list: unknown[]): boolean => {
      try {
        return take(list) !== undefined;
      } catch {
        return false;
      }
    };
    for (const part of ["", [], {}, 0.5]) {
      let list = Array<unknown>(13_000).fill(part);
      while (!isTaken(list)) list = list.slice(Math.ceil(list.length / 100));
      const message = take(list);
      const failure = { error: new MessageRefusedError("x", "\u20AC".repeat(1000)), tries: 1e9 };
      const refusal = "\u20AC".repeat(1000);
      const envelope = wrap({ message, waitMs: 1e9, failureCount: 1e9, refusal }, gateway, {
        ...now,
        sender: randomUUID(),
      });
      const copies = [undeliveredCopy(message, { exchange: "error", source: longest }, failure), envelope];
      for (const { properties: sent, messageId } of copies)
        assert.doesNotThrow(() => toSendable({ ...sent, messageId }, library));
    }
  });

  it("comes back as it was, whatever it carries", () => {
    fc.assert(
      fc.property(waiting, (one) => {
        const roundMs = Math.min(one.waitMs, network.maximumDelayMs);
        const { roundId, ...returned } = back(one);
        assert.deepEqual(returned, { ...one, roundMs, sent: now });
        // Two of one message are two messages.
        assert.ok(typeof roundId === "string" && roundId !== back(one).roundId);
      }),
    );
  });

  it("waits at least its time, or the network's longest, and carries nothing that ends its wait or leads it elsewhere", () => {
    fc.assert(
      fc.property(waiting, (one) => {
        const sent = wrap(one, gateway, now);
        assert.deepEqual(Object.keys(sent.properties.headers ?? {}), ["rabbitmq-delay.gateway"]);
        assert.equal(sent.properties.expiration, undefined);
        const digits = sent.routingKey.split(".").slice(0, network.levels);
        const keptMs = Number.parseInt(digits.join(""), network.radix) * network.unitMs;
        assert.ok(keptMs >= Math.min(one.waitMs, network.maximumDelayMs), `${keptMs} ms for ${one.waitMs}`);
        assert.ok(keptMs < one.waitMs + network.unitMs || one.waitMs === 0);
        assert.equal(sent.routingKey.split(".").slice(network.levels).join("."), "gateway.return");
      }),
    );
  });

  it("waits all of its time in rounds, whatever the time of day says, and however often another process sends it on", () => {
    const rounds = fc.array(
      fc.record({
        isOther: fc.boolean(),
        lateMs: fc.nat(2000),
        jumpMs: fc.integer({ min: -10_000_000, max: 10_000_000 }),
      }),
    );
    fc.assert(
      fc.property(waiting, rounds, (one, steps) => {
        let [wait, trueMs, count] = [one.waitMs, 0, 0];
        let clock = now;
        for (;;) {
          const { isOther, lateMs, jumpMs } = steps[count] ?? { isOther: count % 2 === 0, lateMs: 0, jumpMs: 0 };
          const returned = back({ ...one, waitMs: wait }, clock);
          trueMs += returned.roundMs + lateMs;
          const sender = isOther ? `other ${count}` : clock.sender;
          const elapsedMs = isOther ? 17 : clock.elapsedMs + returned.roundMs + lateMs;
          // A clock that jumps back may make it wait once more, and none shortens a wait.
          clock = { sender, elapsedMs, timeMs: Math.max(0, clock.timeMs + returned.roundMs + lateMs + jumpMs) };
          wait = leftMs(returned, clock);
          if (wait === 0 || ++count > 1000) break;
        }
        assert.equal(wait, 0, "it ends");
        assert.ok(trueMs >= one.waitMs - 2, `${trueMs} of ${one.waitMs} ms`);
      }),
    );
  });

  it("waits once more if it came back too early, by the process that sent it exactly", () => {
    const sent = back({ message: sample(), waitMs: 4000, failureCount: 0 });
    const at = (passedMs: number, sender = "me"): number =>
      leftMs(sent, { sender, elapsedMs: 5000 + passedMs, timeMs: NOW_MS + passedMs });
    assert.equal(at(20), 3980);
    assert.equal(at(3999), 0);
    assert.equal(at(20, "another"), 3980);
    assert.equal(at(3950, "another"), 0);
  });

  it("waits for the delay that it asks for, and not for what is left of it, unless it has been here for long", () => {
    const one = { ...sample(), dueAt: new Date(NOW_MS + 300), properties: { headers: { "x-delay": -300 } } };
    assert.equal(firstWaitMs(one, NOW_MS + 40), 300);
    assert.equal(firstWaitMs({ ...one, dueAt: new Date(NOW_MS + 600) }, NOW_MS + 40), 560);
    const long = { ...one, dueAt: new Date(NOW_MS + 9000), properties: { headers: { "x-delay": -9000 } } };
    assert.equal(firstWaitMs(long, NOW_MS + 5000), 4000);
    assert.equal(firstWaitMs({ ...one, properties: {} }, NOW_MS + 40), 260);
    assert.equal(firstWaitMs({ ...one, properties: {} }, NOW_MS + 400), 0);
    assert.equal(firstWaitMs({ ...one, dueAt: new Date(NOW_MS) }, NOW_MS + 40), 0, "a delay that was negative");
  });

  it("is refused if no gateway has sent it, or it names a place that the gateway may not publish to", () => {
    const delivery = { exchange: "", routingKey: "gateway.return", body: Buffer.from("x") };
    const wait = { waitMs: 1, roundMs: 1, ...now };
    const envelope = {
      exchange: "x",
      routingKey: "k",
      headers: {},
      failureCount: 0,
      dueAt: "2030-01-01T00:00:00Z",
      wait,
    };
    const read = (given: unknown): unknown => {
      const one = unwrap({ ...delivery, properties: { headers: { "rabbitmq-delay.gateway": given } } });
      checkReturned(one, gateway);
      return one;
    };
    assert.ok(read(envelope));
    assert.throws(() => unwrap({ ...delivery, properties: {} }), /rabbitmq-delay\.gateway: it is missing/);
    assert.throws(() => read({ ...envelope, dueAt: "soon" }), /no time at which the message is due/);
    assert.throws(() => read({ ...envelope, wait: { ...wait, waitMs: -1 } }), /how long the message waits/);
    assert.throws(() => read({ ...envelope, wait: { ...wait, waitMs: Infinity } }), /how long the message waits/);
    assert.throws(() => read({ ...envelope, failureCount: Number.NaN }), /failureCount/);
    assert.throws(() => read({ ...envelope, refusal: 7 }), /refusal/);
    assert.throws(() => read({ ...envelope, headers: { "!": 1 } }), /no gateway sends/);
    assert.throws(() => read({ ...envelope, exchange: 1 }), /lacks exchange/);
    const entry = network.entryExchanges[0];
    assert.throws(() => read({ ...envelope, exchange: entry }), /the gateway may publish to/);
    assert.throws(
      () => read({ ...envelope, exchange: "", routingKey: "gateway.return" }),
      /x-deliver-routing-key.*must name the queue/,
    );
    assert.throws(
      () => read({ ...envelope, exchange: "", headers: { CC: ["gateway.intake"] } }),
      /CC.*another queue than those of the process itself/,
    );
    const odd = { ...sample(), properties: { headers: { "!": 1 } } };
    assert.throws(() => wrap({ message: odd, waitMs: 0, failureCount: 0 }, gateway, now), /headers\.!/);
  });
});

function sample(): Waiting["message"] {
  return { messageId: "m", dueAt: new Date(0), exchange: "x", routingKey: "k", body: Buffer.alloc(0), properties: {} };
}
