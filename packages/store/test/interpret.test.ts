import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { Delivery } from "@rabbitmq-delay/publish/parts";
import { NewDelayedMessage, defaultLimits } from "@rabbitmq-delay/store";
import { DelayReading, hasDueTime, interpret } from "@rabbitmq-delay/store/testing";
import { DelayedStoreOptions, delayedStore } from "@rabbitmq-delay/topology";
import { toSendable } from "../../publish/dist/sendable";

const NOW = Date.UTC(2030, 0, 31, 12);

function read(
  headers: Record<string, unknown>,
  more: Partial<Delivery> = {},
  options: DelayedStoreOptions = {},
  limits = {},
  reading: DelayReading = {},
): NewDelayedMessage {
  const delivery: Delivery = {
    exchange: "delayed",
    routingKey: "work",
    body: Buffer.from("x"),
    ...more,
    properties: { messageId: "m", ...more.properties, headers },
  };
  return interpret(delivery, delayedStore(options), { ...defaultLimits, ...limits }, NOW, reading);
}

const dueAfter = (message: NewDelayedMessage): number => message.dueAt.getTime() - NOW;

describe("interpret", () => {
  it("reads a delay as the archived plugin does", () => {
    for (const [value, ms] of [
      [5000, 5000],
      ["5000", 5000],
      [1.2, 2],
      [0, 0],
      [-7, 0],
      ["-7", 0],
    ] as const) {
      assert.equal(dueAfter(read({ "x-delay": value })), ms, String(value));
    }
    assert.equal(dueAfter(read({})), 0);
    assert.deepEqual(read({ "x-delay": 5, a: 1 }).properties.headers, { "x-delay": -5, a: 1 });
    assert.deepEqual(read({ "x-delay": -5 }).properties.headers, { "x-delay": -5 });
  });

  it("by the plugin's rules, cuts fractions off, delivers at once what the plugin took for no delay, and refuses what it failed on", () => {
    const decimal = { "!": "decimal", value: { digits: 5000, places: 0 } };
    const plugin = { delayRules: "plugin" } as const;
    const byPlugin = (value: unknown): NewDelayedMessage => read({ "x-delay": value }, {}, {}, {}, plugin);
    const longest = 2 ** 32 - 1;
    for (const [value, ms, sent] of [
      [5000, 5000, -5000],
      ["5000", 5000, -5000],
      ["+5000", 5000, -5000],
      [1.9, 1, -1],
      [longest, longest, -longest],
      [longest + 0.5, longest, -longest],
      ...[0.9, longest + 1, String(longest + 1), 2 ** 62, 0, -7, "-7", true].map((none) => [none, 0, none] as const),
      // What pika and py-amqp send for a text, which the plugin read from 3.13 on.
      [Buffer.from("5000"), 5000, -5000],
      ...[{ a: 5000 }, [5000]].map((none) => [none, 0, none] as const),
    ] as const) {
      const message = byPlugin(value);
      assert.equal(dueAfter(message), ms, String(value));
      assert.deepEqual(message.properties.headers, { "x-delay": sent });
    }
    for (const value of ["5000.5", "soon", "", " 5000", decimal]) {
      const names = /headers\.x-delay.*the plugin took no text but that of an integer/;
      assert.throws(() => byPlugin(value), { name: "MessageRefusedError", message: names });
    }
    // Strictly, none of them is delivered before somebody has looked at it.
    for (const value of [true, { a: 5000 }, [5000], NaN, decimal, 2 ** 62]) {
      assert.throws(() => read({ "x-delay": value }), MessageRefusedError, String(value));
    }
  });

  it("never makes a message early, nor later by more than a millisecond", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: defaultLimits.maximumDelayMs, noNaN: true }), (delayMs) => {
        const lateMs = dueAfter(read({ "x-delay": delayMs })) - delayMs;
        assert.ok(lateMs >= 0 && lateMs <= 1, String(lateMs));
      }),
    );
  });

  // One that is taken and can't be sent stays in the store for ever; one that ends the reading is read again for ever, before all others.
  it("takes headers nested as deeply as can be sent, and refuses deeper ones, however deep", () => {
    const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown =>
      Array.from({ length: levels }).reduce<unknown>((inner) => wrap(inner), Buffer.from("x"));
    const isTaken = (work: () => unknown): boolean => {
      try {
        work();
        return true;
      } catch (error) {
        assert.ok(error instanceof MessageRefusedError, String(error));
        return false;
      }
    };
    const library = { name: "amqplib", maximumPropertiesBytes: 1 << 17 } as const;
    for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ a: inner })]) {
      const taken = new Set<boolean>();
      for (const levels of [1, 46, 47, 48, 49, 50, 51, 52, 2000, 20_000]) {
        const headers = { h: nested(levels, wrap) };
        const isSent = isTaken(() => toSendable({ headers }, library));
        assert.equal(
          isTaken(() => read(headers)),
          isSent,
          `${levels} levels`,
        );
        taken.add(isSent);
      }
      assert.deepEqual([...taken], [true, false]);
    }
  });

  it("counts from the publisher's timestamp where it is told to: what waited for an hour is not later by it", () => {
    const counted = (timestamp: number | undefined, delayMs: number, counting = {}): number => {
      const delivery: Delivery = {
        exchange: "delayed",
        routingKey: "work",
        body: Buffer.from("x"),
        properties: { headers: { "x-delay": delayMs }, ...(timestamp === undefined ? {} : { timestamp }) },
      };
      const options = { countFrom: "timestamp" as const, ...counting };
      return interpret(delivery, delayedStore({}), defaultLimits, NOW, options).dueAt.getTime() - NOW;
    };
    const [now, hour] = [NOW / 1000, 3600];
    assert.equal(counted(now - hour, 75 * 60_000), 15 * 60_000 + 1000, "the end of the second: never early");
    assert.equal(counted(now - hour, 75 * 60_000, { countFrom: "intake" }), 75 * 60_000);
    assert.equal(counted(now - hour, 15 * 60_000), 0, "due meanwhile is now");
    assert.equal(counted(undefined, 5000), 5000, "without one, from the intake");
    assert.equal(counted(now + 60, 5000), 66_000, "ahead by as much as a clock may be");
    assert.equal(counted(now + 61, 5000), 5000, "further ahead is ignored");
    assert.equal(counted(NOW, 5000), 5000, "milliseconds in its place, too");
    assert.equal(counted(now - 8 * 24 * hour, 5000), 5000, "older than a week is ignored");
    assert.equal(counted(now - 8 * 24 * hour, 5000, { maximumTimestampAgeMs: 9 * 24 * 3_600_000 }), 0);
    assert.equal(counted(now - 10, -5), 0);
    assert.equal(read({}, { properties: { timestamp: now + 30 } }).dueAt.getTime(), NOW, "no delay is now");
  });

  it("while the clock is in doubt, a delay counts from the later time, and a time is the time", () => {
    const dueMs = (headers: Record<string, unknown>, properties = {}): number => {
      const delivery = {
        exchange: "delayed",
        routingKey: "work",
        body: Buffer.from("x"),
        properties: { headers, ...properties },
      };
      const counting = { countFrom: "timestamp" as const };
      return interpret(delivery, delayedStore({}), defaultLimits, NOW, counting, NOW + 3_600_000).dueAt.getTime() - NOW;
    };
    assert.equal(dueMs({ "x-delay": 5000 }), 3_605_000);
    assert.equal(dueMs({ "x-delay": 5000 }, { timestamp: NOW / 1000 + 3599 }), 3_605_000);
    assert.equal(dueMs({ "x-deliver-at": NOW + 7000 }), 7000);
    assert.equal(dueMs({}), 0);
  });

  it("what is due at a timestamp's delay is never early, whatever the part of the second was", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_600_000 }), fc.integer({ min: 1, max: 7_200_000 }), (agoMs, delayMs) => {
        const publishedMs = NOW - agoMs;
        const headers = { "x-delay": delayMs };
        const properties = { headers, timestamp: Math.floor(publishedMs / 1000) };
        const delivery = { exchange: "delayed", routingKey: "work", body: Buffer.from("x"), properties };
        const counting = { countFrom: "timestamp" as const };
        const { dueAt } = interpret(delivery, delayedStore({}), defaultLimits, NOW, counting);
        const lateMs = dueAt.getTime() - Math.max(NOW, publishedMs + delayMs);
        assert.ok(lateMs >= 0 && lateMs <= 1000, `${lateMs} ms`);
      }),
    );
  });

  it("reads a time in each of its forms", () => {
    const at = NOW + 3000;
    const forms = [new Date(at).toISOString(), "2030-01-31T13:00:03+01:00", at, { "!": "timestamp", value: at / 1000 }];
    for (const form of forms) {
      const message = read({ "x-deliver-at": form });
      assert.equal(dueAfter(message), 3000);
      assert.deepEqual(message.properties.headers, {}, "it is said to the store alone");
    }
    assert.equal(dueAfter(read({ "x-deliver-at": "2001-01-01T00:00Z" })), 0, "the past is now");
  });

  it("sends it where it says, else by the exchange's forward, else to the queue that the key names", () => {
    const options = { forwards: [{ exchange: "orders.delayed", delivery: "orders" }], exchanges: ["events"] };
    const where = (headers: Record<string, unknown>, exchange = "delayed"): string[] => {
      const message = read(headers, { exchange }, options);
      return [message.exchange, message.routingKey];
    };
    assert.deepEqual(where({}), ["", "work"]);
    assert.deepEqual(where({ "x-deliver-routing-key": "other" }), ["", "other"]);
    assert.deepEqual(where({}, "orders.delayed"), ["orders", "work"]);
    assert.deepEqual(where({ "x-deliver-exchange": "events" }, "orders.delayed"), ["events", "work"]);
    assert.deepEqual(
      where({ CC: ["delayed.control"] }, "orders.delayed"),
      ["orders", "work"],
      "a key of that exchange",
    );
    assert.deepEqual(where({ CC: ["other"] }), ["", "work"]);
    assert.deepEqual(where({ "x-deliver-exchange": "", "x-deliver-routing-key": "q" }, "orders.delayed"), ["", "q"]);
    assert.deepEqual(where({ "x-deliver-exchange": "events" }, "former.delayed"), ["events", "work"]);
    assert.deepEqual(where({}, ""), ["", "work"], "sent to the intake queue itself");
    // Of a forward that was removed, or was never given, nobody knows where it led.
    assert.throws(
      () => where({}, "former.delayed"),
      /x-deliver-exchange: .*no forward says where messages of exchange former\.delayed/,
    );
  });

  it("keeps all properties, but for what another user may not send", () => {
    const properties = { contentType: "t", priority: 3, expiration: "5", type: "T", userId: "shop" };
    // What the broker said of its way here would make it a message that goes round in circles, for a broker before 4.0.
    const ofBroker = { "x-delivery-count": 2, "x-acquired-count": 3, "x-death": [{}], "x-first-death-queue": "q" };
    const message = read({ a: 1, ...ofBroker, "x-last-death-reason": "expired" }, { properties });
    assert.deepEqual(message.properties, {
      contentType: "t",
      priority: 3,
      expiration: "5",
      type: "T",
      headers: { a: 1, "rabbitmq-delay.user-id": "shop" },
    });
    assert.equal(message.messageId, "m");
    for (const messageId of [undefined, ""]) {
      assert.match(read({}, { properties: { messageId } }).messageId, /^[0-9a-f-]{36}$/);
    }
  });

  it("drops a user id that the broker has not checked: else anybody could be anybody", () => {
    assert.deepEqual(read({ "rabbitmq-delay.user-id": "admin" }).properties.headers, {});
    const checked = { userId: "shop" };
    const { headers } = read({ "rabbitmq-delay.user-id": "admin" }, { properties: checked }).properties;
    assert.deepEqual(headers, { "rabbitmq-delay.user-id": "shop" });
  });

  it("refuses texts whose bytes amqplib has not kept, wherever they stand", () => {
    const lost: [Record<string, unknown>, Partial<Delivery>, RegExp][] = [
      [{ a: "\uFFFD" }, {}, /^headers\.a: .*not UTF-8/],
      [{ "\uFFFD": 1 }, {}, /^headers\.\uFFFD: /],
      [{ a: ["x", { b: ["\uFFFD"] }] }, {}, /^headers\.a: /],
      [{}, { properties: { correlationId: "\uFFFD" } }, /^correlationId: /],
      [{}, { routingKey: "\uFFFD" }, /^routingKey: /],
    ];
    for (const [headers, more, message] of lost) {
      assert.throws(() => read(headers, more), { name: "MessageRefusedError", message }, String(message));
    }
    assert.doesNotThrow(() => read({ a: Buffer.from([0xff]), "x-death": [{ queue: "\uFFFD" }] }));
  });

  it("refuses what it can't keep, and says why", () => {
    const refused: [Record<string, unknown>, RegExp, Partial<Delivery>?][] = [
      [{ "x-delay": "soon" }, /headers\.x-delay: "soon" is not allowed; it must be a number of milliseconds/],
      [{ "x-delay": NaN }, /headers\.x-delay/],
      [{ "x-delay": {} }, /headers\.x-delay/],
      [{ "x-delay": true }, /headers\.x-delay/],
      [{ "x-delay": 1e300 }, /delayMs: 1e\+300 ms are not allowed; the longest delay is/],
      [{ "x-deliver-at": "2030-02-30x" }, /headers\.x-deliver-at/],
      [{ "x-deliver-at": "2030-01-31" }, /headers\.x-deliver-at.*ISO-8601/],
      [{ "x-deliver-at": "2030-01-31T12:00:00" }, /headers\.x-deliver-at/],
      [{ "x-deliver-at": 1e17 }, /headers\.x-deliver-at/],
      [{ "x-delay": 1, "x-deliver-at": NOW }, /x-delay: give one/],
      [{ "x-deliver-exchange": 5 }, /x-deliver-exchange: 5 is not allowed; it must be a text/],
      [{ "x-deliver-exchange": "amq.topic" }, /x-deliver-exchange: "amq\.topic".*the default exchange/],
      [{ "x-deliver-routing-key": "delayed.intake" }, /x-deliver-routing-key/],
      [{ "x-deliver-routing-key": "delayed.control" }, /x-deliver-routing-key/],
      // Further routing keys: who may publish delayed messages could cancel all, or send one round for ever.
      [{ CC: ["other", "delayed.control"] }, /headers\.CC: "delayed\.control" is not allowed/],
      [{ BCC: ["delayed.intake"] }, /headers\.BCC: "delayed\.intake" is not allowed/],
      [{ CC: [""] }, /headers\.CC: "" is not allowed/],
      [{ CC: "delayed.control" }, /headers: CC must be a list of texts/],
      [{ BCC: [5] }, /headers: BCC must be a list of texts/],
      [{}, /x-deliver-routing-key: "" is not allowed/, { routingKey: "" }],
      [{}, /routingKey: .*without NUL/, { routingKey: "a\0" }],
      [{}, /body: it has 11 bytes, at most 10/, { body: Buffer.alloc(11) }],
    ];
    for (const [headers, message, more] of refused) {
      assert.throws(() => read(headers, more, {}, { maximumBodyBytes: 10 }), message, JSON.stringify(headers));
    }
  });

  // A gateway would wait for the delay of the one header, which the plugin took for none, where the other one says when the message is due.
  it("tells a message with a due time of its own from one with a delay, whatever its other headers hold", () => {
    const told = (headers: object): boolean =>
      hasDueTime({ exchange: "", routingKey: "work", body: Buffer.alloc(0), properties: { headers: { ...headers } } });
    assert.ok(told({ "x-deliver-at": "2030-01-31T12:00:00Z", "x-delay": 0 }));
    assert.ok(told({ "x-deliver-at": 1_900_000_000_000 }));
    for (const headers of [{ "x-delay": 300 }, { "x-delay": 300, "x-deliver-at": null }, {}]) assert.ok(!told(headers));
  });
});
