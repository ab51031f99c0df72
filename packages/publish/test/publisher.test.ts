import { strict as assert } from "node:assert";
import { EventEmitter } from "node:events";
import { runInNewContext } from "node:vm";
import {
  ChannelClosedError,
  MessageRefusedError,
  MessageReturnedError,
  PublishTimeoutError,
  createDelayPublisher,
  holdFor,
} from "@rabbitmq-delay/publish";
import { ConfirmedSender, toConfirmPort } from "@rabbitmq-delay/publish/parts";
import { DelayTopologyError, delayNetwork } from "@rabbitmq-delay/topology";

type Confirm = (error: unknown) => void;
interface Sent {
  contentType?: string;
  messageId: string;
  headers: Record<string, unknown>;
}

/** A stand-in for amqplib's channel that confirms when the test says so; the real ones are in test/brokers. */
class SilentChannel extends EventEmitter {
  readonly published: { exchange: string; key: string; body: Buffer; options: Sent; confirm: Confirm }[] = [];
  waitForConfirms = (): void => undefined;
  isWritable = true;

  publish(exchange: string, key: string, body: Buffer, options: Sent, confirm: Confirm): boolean {
    this.published.push({ exchange, key, body, options, confirm });
    return this.isWritable;
  }
}

const network = delayNetwork({ preset: "custom", prefix: "t", radix: 4, levels: 3, unitMs: 10 });
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("createDelayPublisher", () => {
  let channel: SilentChannel;
  beforeEach(() => (channel = new SilentChannel()));

  it("gives up on a broker that does not answer", async () => {
    const publisher = createDelayPublisher(channel, JSON.stringify(network), { confirmTimeoutMs: 5 });
    await assert.rejects(publisher.publish("a", "x", { delayMs: 10 }), PublishTimeoutError);
    // A service that drained its publisher before it ended, by this count, ended while the broker could still take the message.
    assert.equal(publisher.unconfirmed, 1);
    channel.published[0]?.confirm(null);
    await settle();
    assert.equal(publisher.unconfirmed, 0);
  });

  // During an alarm publishers waited for as long as it lasted, with a count of 0, and could neither give up nor publish elsewhere.
  for (const [what, maxUnconfirmed] of [
    ["a place", 1],
    ["the socket", 2],
  ] as const) {
    it(`waits no longer for ${what} than confirmTimeoutMs, says that nothing was sent, and keeps to it`, async () => {
      const publisher = createDelayPublisher(channel, network, { confirmTimeoutMs: 20, maxUnconfirmed });
      channel.isWritable = false;
      const publish = (): Promise<unknown> => publisher.publish("a", "x", { delayMs: 10 });
      const first = publish();
      await settle();
      const second = publish();
      assert.equal(publisher.unconfirmed, 2);
      await Promise.all([
        assert.rejects(first, (error: Error) => error instanceof PublishTimeoutError && error.wasSent),
        assert.rejects(second, (error: Error) => {
          return (
            error instanceof PublishTimeoutError && !error.wasSent && /was not sent within 20 ms/.test(error.message)
          );
        }),
      ]);
      assert.equal(publisher.unconfirmed, 1);
      channel.isWritable = true;
      channel.emit("drain");
      await settle();
      assert.equal(channel.published.length, 1);
      const third = publish();
      await settle();
      for (const { confirm } of channel.published) confirm(null);
      await third;
      assert.equal(publisher.unconfirmed, 0);
    });
  }

  it("has no more messages on their way than it may", async () => {
    const publisher = createDelayPublisher(channel, network, { maxUnconfirmed: 10 });
    const publishing = Array.from({ length: 50 }, () => publisher.publish("a", "x", { delayMs: 10 }));
    for (let confirmed = 0; confirmed < 50; confirmed++) {
      await settle();
      assert.equal(channel.published.length, Math.min(50, confirmed + 10));
      assert.equal(publisher.unconfirmed, 50 - confirmed);
      channel.published[confirmed]?.confirm(null);
    }
    await Promise.all(publishing);
  });

  // 300 messages of 1 MB took 614 MB.
  it("has no more bytes on their way than it may, but for one message that alone has more", async () => {
    const publisher = createDelayPublisher(channel, network, { maxUnconfirmedBytes: 100 });
    const sizes = [60, 30, 20, 500, 10, 90, 1];
    const publishing = sizes.map((size) => publisher.publish("a", Buffer.alloc(size), { delayMs: 10 }));
    const confirmed = new Set<Confirm>();
    // Messages sent once so many are confirmed: none overtakes the large one.
    for (const sent of [2, 3, 3, 4, 6, 7, 7]) {
      await settle();
      assert.equal(channel.published.length, sent);
      channel.published.find(({ confirm }) => !confirmed.has(confirm) && confirmed.add(confirm))?.confirm(null);
    }
    await Promise.all(publishing);
    assert.deepEqual(
      channel.published.map(({ body }) => body.length),
      sizes,
    );
  });

  it("has at most 64 MiB on their way where nothing else is said", async () => {
    const publisher = createDelayPublisher(channel, network);
    const half = Buffer.alloc(2 ** 25);
    const publishing = [half, half, "x"].map((body) => publisher.publish("a", body, { delayMs: 10 }));
    await settle();
    assert.equal(channel.published.length, 2);
    channel.published[0]?.confirm(null);
    await settle();
    assert.equal(channel.published.length, 3);
    for (const { confirm } of channel.published.slice(1)) confirm(null);
    await Promise.all(publishing);
  });

  // A socket that had room for one message got all that had waited for it.
  it("asks the socket before each message that waited for it, and keeps their order", async () => {
    const publisher = createDelayPublisher(channel, network);
    channel.isWritable = false;
    const bodies = Array.from({ length: 20 }, (_, index) => String(index));
    const publishing = bodies.slice(0, 10).map((body) => publisher.publish("a", body, { delayMs: 10 }));
    for (let sent = 1; sent <= 20; sent++) {
      await settle();
      assert.equal(channel.published.length, sent);
      if (sent <= 10) publishing.push(publisher.publish("a", bodies[9 + sent], { delayMs: 10 }));
      channel.emit("drain");
    }
    for (const { confirm } of channel.published) confirm(null);
    await Promise.all(publishing);
    assert.deepEqual(
      channel.published.map(({ body }) => body.toString()),
      bodies,
    );
  });

  // The broker's refusal of one message ended the process of a service that awaited each of its promises.
  it("takes a channel's error for its owner, who learns of it by the promise", async () => {
    const publisher = createDelayPublisher(channel, network);
    const published = publisher.publish("a", "x", { delayMs: 10 });
    await settle();
    const refusal = new Error("Channel closed by server: 404");
    channel.emit("error", refusal);
    channel.emit("close");
    for (const promise of [published, publisher.publish("a", "x", { delayMs: 10 })]) {
      await assert.rejects(promise, (error: Error) => {
        return (
          error instanceof ChannelClosedError &&
          error.cause === refusal &&
          /: Channel closed .*404$/.test(error.message)
        );
      });
    }
    assert.equal(publisher.unconfirmed, 0);
  });

  // The one that was returned counted as held, and the one that was held was published again.
  it("knows a message from one of holdFor with the same id, exchange and key over the same channel", async () => {
    Object.assign(channel, { assertQueue: () => Promise.resolve() });
    const held = holdFor(channel, { delayMs: 10, exchange: "", routingKey: "q" }, { body: "x", messageId: "same" });
    await settle();
    const key = channel.published[0]?.key ?? "";
    const sent = new ConfirmedSender(toConfirmPort(channel), {}).send("", key, Buffer.from("x"), { messageId: "same" });
    await settle();
    const [first, second] = channel.published;
    channel.emit("return", { fields: { exchange: "", routingKey: key, replyText: "" }, properties: second?.options });
    second?.confirm(null);
    first?.confirm(null);
    await assert.rejects(sent, MessageReturnedError);
    await held;
    assert.equal(channel.published.length, 2);
  });

  // Over a connection without a limit of its frames each message with headers was refused.
  it("takes a frame size of 0 as no limit", async () => {
    Object.assign(channel, { connection: { frameMax: 0 } });
    const publisher = createDelayPublisher(channel, network);
    const published = publisher.publish("a", "x", { delayMs: 10, headers: { note: "y".repeat(10_000) } });
    await settle();
    channel.published[0]?.confirm(null);
    await published;
  });

  it("fails what is unconfirmed when the channel closes", async () => {
    const publisher = createDelayPublisher(channel, network);
    const published = publisher.publish("a", "x", { delayMs: 10 });
    await settle();
    channel.emit("close");
    await assert.rejects(published, ChannelClosedError);
  });

  it("tells returned messages apart by id, exchange and key", async () => {
    const publisher = createDelayPublisher(channel, network);
    const options = { delayMs: 10, messageId: "same" };
    const [good, bad] = [publisher.publish("good", "x", options), publisher.publish("bad", "x", options)];
    await settle();
    const [first, second] = channel.published;
    const fields = { exchange: second?.exchange, routingKey: second?.key, replyText: "NO_ROUTE" };
    channel.emit("return", { fields, properties: { messageId: "same" } });
    first?.confirm(null);
    second?.confirm(null);
    await good;
    await assert.rejects(bad, MessageReturnedError);
  });

  it("does not take the late return of a message that nobody waits for any more for another one's", async () => {
    const publisher = createDelayPublisher(channel, network, { confirmTimeoutMs: 20 });
    const options = { delayMs: 10, messageId: "same" };
    await assert.rejects(publisher.publish("a", "first", options), PublishTimeoutError);
    const second = publisher.publish("a", "second", options);
    await settle();
    const [first, other] = channel.published;
    const fields = { exchange: first?.exchange, routingKey: first?.key, replyText: "NO_ROUTE" };
    channel.emit("return", { fields, properties: first?.options });
    other?.confirm(null);
    await second;
  });

  it("knows a message from one of another publisher over the same channel", async () => {
    const [one, other] = [createDelayPublisher(channel, network), createDelayPublisher(channel, network)];
    const options = { delayMs: 10, messageId: "same" };
    const [good, bad] = [one.publish("a", "x", options), other.publish("a", "x", options)];
    await settle();
    const [first, second] = channel.published;
    const fields = { exchange: second?.exchange, routingKey: second?.key, replyText: "NO_ROUTE" };
    channel.emit("return", { fields, properties: second?.options });
    first?.confirm(null);
    second?.confirm(null);
    await good;
    await assert.rejects(bad, MessageReturnedError);
  });

  it("listens to a channel once, however many publishers it has", () => {
    const events = ["return", "close", "drain"];
    createDelayPublisher(channel, network);
    const before = events.map((event) => channel.listenerCount(event));
    for (let count = 0; count < 20; count++) createDelayPublisher(channel, network);
    assert.deepEqual(
      events.map((event) => channel.listenerCount(event)),
      before,
    );
  });

  it("sends what the caller gave in the call, whatever he makes of his objects while messages wait", async () => {
    const publisher = createDelayPublisher(channel, network, { maxUnconfirmed: 1 });
    const body = Buffer.alloc(1);
    const bytes = Buffer.alloc(1);
    const list: number[] = [];
    const headers = { index: 0, deep: { list, bytes } };
    const at = new Date(0);
    const published: Promise<unknown>[] = [];
    for (let index = 0; index < 20; index++) {
      for (const buffer of [body, bytes]) buffer[0] = index;
      headers.index = list[0] = index;
      at.setTime(0);
      published.push(publisher.publish("a", body, { at, headers }));
      at.setTime(Date.now() + 600);
    }
    for (let index = 0; index < 20; index++) {
      await settle();
      channel.published[index]?.confirm(null);
      await published[index];
    }
    const sent = channel.published.map(({ body: [first], options: { headers: found } }) => {
      const deep = found.deep as typeof headers.deep;
      return [first, found.index, deep.list[0], deep.bytes[0]];
    });
    assert.deepEqual(
      sent,
      Array.from({ length: 20 }, (_, index) => [index, index, index, index]),
    );
    // Due in the past is now, so all entered at the lowest level.
    assert.deepEqual(new Set(channel.published.map(({ key }) => key)), new Set(["0.0.0.a"]));
  });

  it("waits for the socket's drain", async () => {
    const publisher = createDelayPublisher(channel, network);
    channel.isWritable = false;
    void publisher.publish("a", "1", { delayMs: 10 }).catch(() => undefined);
    await settle();
    void publisher.publish("a", "2", { delayMs: 10 }).catch(() => undefined);
    await settle();
    assert.equal(channel.published.length, 1);
    channel.isWritable = true;
    channel.emit("drain");
    await settle();
    assert.equal(channel.published.length, 2);
    channel.emit("close");
  });

  const refused: [string, object, RegExp][] = [
    ["expiration", { expiration: "5" }, /expiration: .*early/],
    ["CC", { CC: ["b"] }, /CC: .*past the delay/],
    ["BCC", { BCC: ["b"] }, /BCC: .*past the delay/],
    ["a CC header", { headers: { CC: ["b"] } }, /headers\.CC/],
    ["a transient message", { persistent: false }, /persistent/],
    ["both delayMs and at", { at: new Date() }, /exactly one/],
  ];
  for (const [what, options, message] of refused) {
    it(`refuses ${what} with the reason`, async () => {
      const published = createDelayPublisher(channel, network).publish("a", "x", { delayMs: 10, ...options });
      await assert.rejects(
        published,
        (error: Error) => error instanceof MessageRefusedError && message.test(error.message),
      );
      assert.deepEqual(channel.published, []);
    });
  }

  it("refuses impossible delays, dates, bodies and options", async () => {
    const publisher = createDelayPublisher(channel, network);
    await assert.rejects(publisher.publish("a", "x", { delayMs: 631 }), /maximum is 630 ms/);
    await assert.rejects(publisher.publish("a", "x", { delayMs: Number.NaN }), DelayTopologyError);
    await assert.rejects(publisher.publish("a", "x", { at: new Date("never") }), /valid Date/);
    await assert.rejects(publisher.publish("a", undefined, { delayMs: 1 }), /body/);
    await assert.rejects(publisher.publish("a", { big: 1n }, { delayMs: 1 }), /^MessageRefusedError: body: .*JSON/);
    await assert.rejects(publisher.publish("a", "x", undefined as never), /exactly one of delayMs and at/);
    assert.throws(() => createDelayPublisher(channel, network, { maxUnconfirmed: 0 }), /maxUnconfirmed/);
    assert.throws(() => createDelayPublisher(channel, { ...network, version: 3 as 1 }), /version/);
  });

  // All of them were sent as {}, [] or null, and confirmed: the content was lost without a word.
  it("refuses bodies whose JSON leaves their content out", async () => {
    const publisher = createDelayPublisher(channel, network);
    const bodies: [unknown, RegExp][] = [
      [Promise.resolve({ invoice: 1 }), /a promise .* await it/],
      [{ then: () => undefined }, /a promise/],
      [new Map([["invoice", 1]]), /type Map/],
      [new Set([1]), /type Set/],
      [new Error("no"), /type Error/],
      [Object.assign(new Error("no"), { code: 5 }), /type Error/],
      [new Blob(["invoice"]), /type Blob/],
      [new Uint16Array([1, 2]), /type Uint16Array/],
      [Number.NaN, /JSON has no NaN/],
    ];
    for (const [body, message] of bodies) {
      await assert.rejects(
        publisher.publish("a", body, { delayMs: 1 }),
        (error: Error) =>
          error instanceof MessageRefusedError && error.property === "body" && message.test(error.message),
      );
    }
    assert.deepEqual(channel.published, []);
  });

  // Under a test runner with a realm of its own, a Buffer's bytes went out as {"0":105,…}; those of a fetch() as {}.
  it("sends bytes as they are, whoever made them, and objects with a JSON form of their own", async () => {
    const publisher = createDelayPublisher(channel, network);
    const { buffer } = Uint8Array.from([105, 110, 118]);
    const foreign: unknown = runInNewContext("Uint8Array.from([105, 110, 118])");
    for (const body of [buffer, new DataView(buffer), new Uint8ClampedArray(buffer), foreign]) {
      void publisher.publish("a", body, { delayMs: 1 });
      await settle();
      assert.deepEqual(channel.published.at(-1)?.body, Buffer.from("inv"));
      assert.equal(channel.published.at(-1)?.options.contentType, undefined);
    }
    class Ping {}
    for (const body of [
      new Date(0),
      new Ping(),
      {},
      [],
      null,
      Object.assign(new Error("no"), { toJSON: () => "no" }),
    ]) {
      void publisher.publish("a", body, { delayMs: 1 });
      await settle();
      assert.deepEqual(channel.published.at(-1)?.body, Buffer.from(JSON.stringify(body)));
    }
    channel.published.forEach(({ confirm }) => confirm(null));
  });

  it("refuses a time that no timer can wait for, which would be over at once", async () => {
    for (const confirmTimeoutMs of [2 ** 31, Infinity, Number.NaN, 0, "5" as unknown as number]) {
      assert.throws(
        () => createDelayPublisher(channel, network, { confirmTimeoutMs }),
        (error: Error) =>
          error instanceof MessageRefusedError && /^confirmTimeoutMs: .* from 1 to 2147483647$/.test(error.message),
      );
    }
    const publisher = createDelayPublisher(channel, network, { confirmTimeoutMs: 2 ** 31 - 1 });
    const published = publisher.publish("a", "x", { delayMs: 10 });
    await settle();
    channel.published[0]?.confirm(null);
    await published;
    await assert.rejects(
      holdFor(
        Object.assign(channel, { assertQueue: () => Promise.resolve() }),
        { delayMs: 10, exchange: "", routingKey: "a" },
        { body: "x" },
        HOLD_TOO_LONG,
      ),
      /confirmTimeoutMs: 2147483648 .* from 1 to 2147483647/,
    );
  });

  it("has its tolerance for a due time as for a delay, so that both take the same few queues", async () => {
    const year = delayNetwork({ preset: "custom", prefix: "year" });
    const publisher = createDelayPublisher(channel, year, { tolerance: 1 });
    const delayMs = 1_000_003_000;
    const options = [
      { delayMs },
      { at: new Date(Date.now() + delayMs) },
      { at: new Date(Date.now() + delayMs), tolerance: 0 },
    ];
    for (const each of options) void publisher.publish("a", "x", each).catch(() => undefined);
    await settle();
    const hops = channel.published.map(({ key }) => key.split(".").filter((digit) => /^[1-3]$/.test(digit)).length);
    assert.deepEqual(hops.slice(0, 2), [1, 1]);
    assert.ok((hops[2] as number) > 1);
    channel.emit("close");
  });

  // With what is left of a deadline as its timeout, each message made a sender of its own, kept for ever: each came slower than the one before.
  it("holdFor has one sender for a channel, and each message its own timeout", async () => {
    const hold = { delayMs: 10, exchange: "", routingKey: "a" };
    Object.assign(channel, { assertQueue: () => Promise.resolve() });
    const held = Array.from({ length: 1001 }, (_, index) =>
      holdFor(channel, hold, { body: String(index) }, { confirmTimeoutMs: index === 0 ? 1000 : 10_000 + index }),
    );
    held.forEach((one) => void one.catch(() => undefined));
    while (channel.published.length < 1000) await settle();
    await settle();
    assert.equal(channel.published.length, 1000, "1,000 are on their way, whatever their timeouts");
    await assert.rejects(held[0] as Promise<unknown>, (error: Error) => {
      return error instanceof PublishTimeoutError && / within 1000 ms$/.test(error.message);
    });
    while (channel.published.length < 1001) await settle();
    channel.published.forEach(({ confirm }) => confirm(null));
    await Promise.all(held.slice(1));
  });

  // Who publishes again at the errors that the docs name let these messages go.
  it("holdFor rejects with ChannelClosedError when its queue can't be declared, with the broker's refusal as the cause", async () => {
    const refusal = Object.assign(new Error("PRECONDITION_FAILED - inequivalent arg"), { code: 406 });
    Object.assign(channel, { assertQueue: () => Promise.reject(refusal) });
    await assert.rejects(
      holdFor(channel, { delayMs: 10, exchange: "", routingKey: "a" }, { body: "x" }),
      (error: Error) =>
        error instanceof ChannelClosedError && error.cause === refusal && /PRECONDITION_FAILED/.test(error.message),
    );
    assert.deepEqual(channel.published, []);
  });
});

/** A lease that outlives the wait, so that the wait itself is what is refused. */
const HOLD_TOO_LONG = { confirmTimeoutMs: 2 ** 31, leaseMs: 2 ** 32 };
