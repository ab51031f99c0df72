import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { EventEmitter } from "node:events";
import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { OpenDelivery } from "@rabbitmq-delay/publish/parts";
import { NewDelayedMessage } from "@rabbitmq-delay/store";
import {
  BatchPublisher,
  Bodies,
  BrokerConnection,
  ConsumerSession,
  bodyBytesOf,
  consumeBatches,
  copyWith,
  withBodyOf,
} from "@rabbitmq-delay/store/testing";

const messageOf = (body: string): NewDelayedMessage => ({
  ...{ messageId: "m", dueAt: new Date(0), exchange: "", routingKey: "work", properties: {}, body: Buffer.from(body) },
});

const OPEN_FILES = "/proc/self/fd";

/** Names of files of bodies: in the temporary folder, and on Linux of the open files of this process, be they deleted or not. */
function filesWithName(): string[] {
  const descriptors = existsSync(OPEN_FILES) ? readdirSync(OPEN_FILES).map((name) => join(OPEN_FILES, name)) : [];
  const open = descriptors.filter((link) => lstatSync(link, { throwIfNoEntry: false }));
  return [...readdirSync(tmpdir()), ...open.map((link) => readlinkSync(link))].filter((name) =>
    /rabbitmq-delay-[0-9a-f]{8}-[0-9a-f-]{27}/.test(name),
  );
}

/** Whether a message's body is in memory. */
function isInMemory(message: object): boolean {
  return Object.getOwnPropertyDescriptor(message, "body")?.get === undefined;
}

/** A channel that is consumed, whose messages the test delivers, and the acknowledgements that it gets. */
function consumedChannel(): {
  channel: EventEmitter;
  connection: BrokerConnection;
  acknowledged: [tag: number, isForEarlier: boolean][];
  deliver: (message: object) => void;
} {
  let onMessage: (message: object) => void = () => undefined;
  const acknowledged: [number, boolean][] = [];
  const channel = Object.assign(new EventEmitter(), {
    waitForConfirms: () => undefined,
    prefetch: () => Promise.resolve(),
    consume: (_queue: string, listener: typeof onMessage) => {
      onMessage = listener;
      return Promise.resolve({ consumerTag: "t" });
    },
    cancel: () => Promise.resolve(),
    ack: ({ fields }: { fields: { deliveryTag: number } }, isForEarlier: boolean) =>
      acknowledged.push([fields.deliveryTag, isForEarlier]),
    nack: () => undefined,
    close: () => Promise.resolve(),
  });
  const connection = { channel: () => Promise.resolve(channel) } as unknown as BrokerConnection;
  return { channel, connection, acknowledged, deliver: (message) => onMessage(message) };
}

describe("bodies in hand", () => {
  it("wait in files beyond the limit, under no name, and are the same in each copy of their message", () => {
    const bodies = new Bodies(10);
    const texts = ["first", "secnd", "third", "", "größer als alles"];
    const kept = texts.map((text) => {
      const message = messageOf(text);
      return { message, drop: bodies.keep(message) };
    });
    assert.deepEqual(
      kept.map(({ message }) => isInMemory(message)),
      [true, true, false, true, false],
    );
    assert.deepEqual(filesWithName(), []);
    for (const [index, { message }] of kept.entries()) {
      const text = texts[index] as string;
      const copies = [message, copyWith(message, { exchange: "other" }), withBodyOf({}, message), { ...message }];
      assert.deepEqual(copies.map(isInMemory), [...Array<boolean>(3).fill(isInMemory(message)), true]);
      for (const copy of copies) {
        assert.equal(bodyBytesOf(copy), Buffer.byteLength(text));
        assert.equal(copy.body.toString(), text);
      }
      assert.equal(copies[1] && "exchange" in copies[1] && copies[1].exchange, "other");
    }
    for (const { drop } of kept) {
      drop();
      drop();
    }
    // Another message may have its place in the meantime.
    const next = messageOf("a next one, longer than the limit");
    bodies.keep(next);
    assert.throws(() => kept[2]?.message.body, /the message is not in hand any more/);
    assert.equal(next.body.toString(), "a next one, longer than the limit");
  });

  it("stay in memory where no file can be written, which is told once", () => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = "/nowhere";
    try {
      const told: string[] = [];
      const bodies = new Bodies(1, ({ message }) => told.push(message));
      const messages = ["one", "two"].map(messageOf);
      for (const message of messages) bodies.keep(message);
      assert.deepEqual(messages.map(isInMemory), [true, true]);
      assert.equal(told.length, 1);
      assert.match(told[0] as string, /ENOENT.*\/nowhere/);
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });

  // A queue that does not answer kept the bodies of all that was sent to it in memory.
  it("leave the memory when they are sent, and not with the answer", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const sent: WeakRef<Buffer>[] = [];
    const channel = Object.assign(new EventEmitter(), {
      waitForConfirms: () => undefined,
      publish: (_exchange: string, _key: string, body: Buffer) => sent.push(new WeakRef(body)) > 0,
      close: () => Promise.resolve(),
    });
    const connection = { channel: () => Promise.resolve(channel), blockedReason: undefined };
    const publisher = new BatchPublisher(connection as unknown as BrokerConnection, 60_000);
    const bodies = new Bodies(0);
    const messages = Array.from({ length: 20 }, (_, index) => messageOf(`body ${index}`));
    for (const message of messages) bodies.keep(message);
    void publisher.publishAll(messages).catch(() => undefined);
    while (sent.length < messages.length) await new Promise((resolve) => setImmediate(resolve));
    for (let tries = 0; tries < 10 && sent.some((one) => one.deref() !== undefined); tries++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    assert.equal(sent.filter((one) => one.deref() !== undefined).length, 0);
    assert.equal(messages[19]?.body.toString(), "body 19");
    channel.emit("close");
  });

  it("leave descriptors for connections, to the broker and for health", async () => {
    const program = `const { Bodies } = require("@rabbitmq-delay/store/testing");
      const told = [];
      const bodies = new Bodies(0, ({ message }) => told.push(message));
      const all = Array.from({ length: 300 }, () => ({ body: Buffer.from("x") }));
      for (const one of all) bodies.keep(one);
      const inFiles = all.filter((one) => Object.getOwnPropertyDescriptor(one, "body").get !== undefined).length;
      console.log(JSON.stringify({ inFiles, told, open: require("node:fs").readdirSync("/proc/self/fd").length }));`;
    const command = ["-c", 'ulimit -n 250; exec "$0" -e "$1"', process.execPath, program];
    const { stdout } = await promisify(execFile)("sh", command, { cwd: __dirname });
    const { inFiles, told, open } = JSON.parse(stdout) as { inFiles: number; told: string[]; open: number };
    assert.ok(inFiles > 50 && inFiles <= 150 && open <= 152, stdout);
    assert.deepEqual(told, ["250 files may be open, and the last 100 are for connections"]);
  });

  // The last of them was taken off the count twice, so that each batch let more bodies into memory than the limit.
  it("are each dropped once where all in hand is acknowledged at once", async () => {
    const { connection, acknowledged, deliver } = consumedChannel();
    const ending = new AbortController();
    const send = (...tags: number[]): void => {
      for (const deliveryTag of tags)
        deliver({ content: Buffer.from("8 bytes."), fields: { deliveryTag }, properties: {} });
    };
    const inMemory: boolean[][] = [];
    const handle = (batch: OpenDelivery[], session: ConsumerSession): Promise<void> => {
      inMemory.push(batch.map(isInMemory));
      if (inMemory.length === 1) session.acknowledge(batch.slice(1));
      session.acknowledge(inMemory.length === 1 ? batch.slice(0, 1) : batch);
      if (inMemory.length < 3) send(...[1, 2, 3].map((tag) => tag + 3 * inMemory.length));
      else ending.abort();
      return Promise.resolve();
    };
    const limits = { prefetch: 3, batchSize: 3, bodyMemoryBytes: 20 };
    await consumeBatches(connection, "q", limits, { handle }, ending.signal, { onConsuming: () => send(1, 2, 3) });
    assert.deepEqual(
      inMemory,
      Array.from({ length: 3 }, () => [true, true, false]),
    );
    assert.deepEqual(acknowledged, [
      [2, false],
      [3, false],
      [1, true],
      [6, true],
      [9, true],
    ]);
  });

  // A message in a file was left out while later ones, in memory, were sent, and came after them.
  it("can be read while something of a lost channel is being sent, and not any more then", async () => {
    const { channel, connection, deliver } = consumedChannel();
    const ending = new AbortController();
    let end: () => void = () => undefined;
    const sending = new Promise<void>((resolve) => (end = resolve));
    let taken: OpenDelivery | undefined;
    const handle = ([delivery]: OpenDelivery[]): Promise<void> => {
      taken = delivery;
      ending.abort();
      channel.emit("close");
      return Promise.resolve();
    };
    const limits = { prefetch: 1, batchSize: 1, bodyMemoryBytes: 0 };
    const onConsuming = (): void =>
      void deliver({ content: Buffer.from("body"), fields: { deliveryTag: 1 }, properties: {} });
    const handler = { handle, settled: () => sending };
    await consumeBatches(connection, "q", limits, handler, ending.signal, { onConsuming });
    assert.equal(taken?.body.toString(), "body");
    end();
    await new Promise((resolve) => setImmediate(resolve));
    assert.throws(() => taken?.body, /not in hand any more/);
  });
});
