import { strict as assert } from "node:assert";
import { EventEmitter } from "node:events";
import {
  ChannelClosedError,
  MessageRefusedError,
  MessageReturnedError,
  PublishTimeoutError,
  createDelayPublisher,
} from "rabbitmq-delay-publish";
import { DelayTopologyError, delayNetwork } from "rabbitmq-delay-topology";

type Confirm = (error: unknown) => void;

/** A stand-in for amqplib's channel that confirms when the test says so; the real ones are in test/brokers. */
class SilentChannel extends EventEmitter {
  readonly published: { exchange: string; key: string; options: { messageId: string }; confirm: Confirm }[] = [];
  waitForConfirms = (): void => undefined;
  isWritable = true;

  publish(exchange: string, key: string, _body: Buffer, options: { messageId: string }, confirm: Confirm): boolean {
    this.published.push({ exchange, key, options, confirm });
    return this.isWritable;
  }
}

const network = delayNetwork({ preset: "custom", prefix: "t", radix: 4, levels: 3, unitMs: 10 });
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("createDelayPublisher", () => {
  let channel: SilentChannel;
  beforeEach(() => (channel = new SilentChannel()));

  it("gives up on a broker that does not answer", async () => {
    const publisher = createDelayPublisher(channel, network, { confirmTimeoutMs: 5 });
    await assert.rejects(publisher.publish("a", "x", { delayMs: 10 }), PublishTimeoutError);
    assert.equal(publisher.unconfirmed, 0);
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
    assert.throws(() => createDelayPublisher(channel, network, { maxUnconfirmed: 0 }), /maxUnconfirmed/);
    assert.throws(() => createDelayPublisher(channel, { ...network, version: 2 as 1 }), /version/);
  });
});
