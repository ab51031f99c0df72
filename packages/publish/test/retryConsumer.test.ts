import { strict as assert } from "node:assert";
import { EventEmitter, once } from "node:events";
import {
  RetryConsumerOptions,
  RetryEvent,
  RetryHandler,
  RetryPolicy,
  consumeWithRetries,
  throughDelayedExchange,
  throughDeclared,
} from "@rabbitmq-delay/publish";
import { errorHeaders } from "@rabbitmq-delay/publish/parts";
import { delayedRetry } from "@rabbitmq-delay/topology";

interface Copy {
  routingKey: string;
  headers: Record<string, unknown>;
}

/** As much of amqplib's confirm channel as a consumer needs, without a broker: it takes each copy unless it is told to refuse. */
class FakeChannel extends EventEmitter {
  readonly connection = { frameMax: 131_072 };
  readonly waitForConfirms = (): Promise<void> => Promise.resolve();
  readonly copies: Copy[] = [];
  readonly settled: string[] = [];
  asked = 0;
  isRefusing = false;
  private onDelivery: (message: unknown) => void = () => undefined;

  readonly checkQueue = (): Promise<object> => Promise.resolve({});
  readonly checkExchange = (): Promise<object> => Promise.resolve({});
  readonly assertQueue = (): Promise<object> => Promise.resolve({});
  readonly unbindExchange = (): Promise<object> => Promise.resolve({});
  readonly reject = (): void => undefined;
  readonly cancel = (): Promise<{ consumerTag: string }> => Promise.resolve({ consumerTag: "" });
  readonly close = (): Promise<void> => Promise.resolve();

  prefetch(count: number): Promise<void> {
    this.asked = count;
    return Promise.resolve();
  }

  consume(_queue: string, onDelivery: (message: unknown) => void): Promise<{ consumerTag: string }> {
    this.onDelivery = onDelivery;
    return Promise.resolve({ consumerTag: "" });
  }

  publish(
    _exchange: string,
    routingKey: string,
    _body: Buffer,
    options: object,
    confirm: (error?: Error) => void,
  ): boolean {
    const { headers } = options as { headers: Record<string, unknown> };
    if (!this.isRefusing) this.copies.push({ routingKey, headers });
    setImmediate(confirm, this.isRefusing ? new Error("nacked") : undefined);
    return true;
  }

  ack(message: { content: Buffer }): void {
    this.settle("ack", message);
  }

  nack(message: { content: Buffer }): void {
    this.settle("nack", message);
  }

  deliver(body: string, headers: Record<string, unknown> = {}): void {
    const fields = { exchange: "", routingKey: "work", redelivered: false };
    this.onDelivery({ content: Buffer.from(body), fields, properties: { headers } });
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await once(this, "settled");
  }

  private settle(how: string, { content }: { content: Buffer }): void {
    this.settled.push(`${how} ${content.toString()}`);
    this.emit("settled");
  }
}

describe("a consumer with retries", () => {
  const fail = (): never => {
    throw new Error("the database is down");
  };
  const delayed = throughDelayedExchange("delayed");
  const native = delayedRetry({ queue: "work", minMs: 50, maxMs: 50, deliveryLimit: 2 });

  async function start(handler: RetryHandler, options: RetryConsumerOptions): Promise<FakeChannel> {
    const channel = new FakeChannel();
    await consumeWithRetries(channel, "work", handler, options);
    return channel;
  }

  it("is handed no more than it handles where the broker counts: a cut connection would fail what was never tried", async () => {
    const options = { policy: RetryPolicy.declared(native), mechanism: throughDeclared(native) };
    assert.equal((await start(fail, options)).asked, 1);
    assert.equal((await start(fail, { ...options, concurrency: 7 })).asked, 7);
    assert.equal((await start(fail, { ...options, prefetch: 3 })).asked, 3, "all three at work");
    await assert.rejects(
      start(fail, { ...options, prefetch: 3, concurrency: 2 }),
      /prefetch: 3 is not allowed; .*must be concurrency, 2: .*never tried/,
    );
    assert.equal((await start(fail, { policy: RetryPolicy.none(), concurrency: 2 })).asked, 10, "nothing is counted");
  });

  // A handler that was undefined, as a mistyped import is, put all messages into the error queue; "" consumed another service's queue.
  it("refuses what is no queue, handler, policy, mechanism or signal", async () => {
    const consume = consumeWithRetries as (...args: unknown[]) => Promise<unknown>;
    const channel = new FakeChannel();
    const policy = RetryPolicy.none();
    const refused: [unknown[], RegExp][] = [
      [["", fail, { policy }], /^queue: "" is not allowed; it must be a queue's name/],
      [[undefined, fail, { policy, errorQueue: "e" }], /^queue: undefined /],
      [["q".repeat(256), fail, { policy }], /^queue: .* 1 to 255 bytes/],
      [["work", undefined, { policy }], /^handler: undefined .*a function/],
      [["work", { policy }], /^handler: .*a function/],
      [["work", fail], /^options: undefined /],
      [["work", fail, {}], /^policy: undefined .*RetryPolicy/],
      [["work", fail, { policy: { delaysMs: [], immediateTries: 2 } }], /^policy: .*RetryPolicy/],
      [["work", fail, { policy, mechanism: native }], /^mechanism: .*throughDeclared/],
      [["work", fail, { policy, signal: new AbortController() }], /^signal: .*controller\.signal/],
      [["work", fail, { policy, errorQueue: "" }], /^errorQueue: "" /],
    ];
    for (const [args, message] of refused) {
      await assert.rejects(
        consume(channel, ...args),
        (error: Error) => error.name === "DelayTopologyError" && message.test(error.message),
        String(message),
      );
    }
    assert.equal(channel.asked, 0, "nothing was consumed");
  });

  it("fails a message at once whose policy throws: given back, ten of them would keep the others from ever being handled", async () => {
    const events: RetryEvent[] = [];
    const channel = await start(fail, {
      policy: RetryPolicy.intervals([50]).ignore(
        (error) => (error as { response: { status: number } }).response.status > 0,
      ),
      mechanism: delayed,
      onFailure: (event) => events.push(event),
    });
    channel.deliver("a");
    await channel.until(() => channel.settled.length === 1);
    assert.deepEqual(channel.settled, ["ack a"]);
    assert.equal(channel.copies[0]?.routingKey, "work_error");
    assert.match(
      String(channel.copies[0]?.headers[errorHeaders.reason]),
      /policy threw: .*status.*: .*the database is down/,
    );
    assert.deepEqual([events[0]?.kind, (events[0]?.error as Error).name], ["failed", "PolicyError"]);
  });

  it("handles other messages while one waits that can't be passed on, and gives it back when it stops", async () => {
    const channel = new FakeChannel();
    const handler: RetryHandler = ({ body }) => (body.toString() === "bad" ? fail() : undefined);
    const events: string[] = [];
    const onFailure = ({ kind }: RetryEvent): void => void events.push(kind);
    const options = { policy: RetryPolicy.none(), concurrency: 1, onFailure };
    const consumer = await consumeWithRetries(channel, "work", handler, options);
    channel.isRefusing = true;
    channel.deliver("bad");
    channel.deliver("good");
    await channel.until(() => channel.settled.length === 1);
    assert.deepEqual([channel.settled, events], [["ack good"], ["given-back"]]);
    await consumer.stop();
    assert.deepEqual(channel.settled, ["ack good", "nack bad"], "no pause holds up the stop");
  });

  it("says as many tries as there were: an operator would look for four failures of which two never happened", async () => {
    const seen: number[] = [];
    const hang: RetryHandler = ({ previousTries }) => {
      seen.push(previousTries);
      return new Promise(() => undefined);
    };
    const policy = RetryPolicy.immediate(2).intervals([50]);
    const channel = await start(hang, { policy, mechanism: delayed, handlerTimeoutMs: 20 });
    channel.deliver("a");
    await channel.until(() => channel.settled.length === 1);
    channel.deliver("a", channel.copies[0]?.headers);
    await channel.until(() => channel.settled.length === 2);
    assert.deepEqual(seen, [0, 1]);
    assert.equal(channel.copies[1]?.headers[errorHeaders.tries], 2);
  });

  it("outlives a listener that rejects: its process would end, and with it whatever else it does", async () => {
    const warned = once(process, "warning") as Promise<[Error]>;
    const onFailure = (): Promise<void> => Promise.reject(new Error("the log is down"));
    const channel = await start(fail, { policy: RetryPolicy.none(), onFailure: onFailure as () => void });
    channel.deliver("a");
    await channel.until(() => channel.settled.length === 1);
    assert.match((await warned)[0].message, /onFailure threw: Error: the log is down/);
  });
});
