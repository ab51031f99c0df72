import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { EventEmitter } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { RetryPolicy, consumeWithRetries } from "@rabbitmq-delay/publish";

/** What the garbage collector leaves open either way; what stayed behind of each message was 140 bytes to 1.3 KiB. */
const NOISE_BYTES = 90;

describe("a consumer that runs for long", () => {
  // A service with a time for its handlers grew by more than 1 KiB with each message, until it was killed for its memory.
  it("keeps nothing of the messages that it has settled", async () => {
    const program = join(__dirname, "programs", "longLivedConsumer.js");
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program]);
    const bytes = JSON.parse(stdout) as Record<string, number>;
    assert.deepEqual(
      Object.entries(bytes).filter(([, perMessage]) => perMessage > NOISE_BYTES),
      [],
    );
  });

  // A service with eleven queues on one channel, or one signal, was told by Node of a leak that was none.
  it("listens once to a channel and to a signal, however many consumers share them, and leaves neither a listener", async () => {
    const channel = Object.assign(new EventEmitter(), {
      waitForConfirms: () => undefined,
      prefetch: () => Promise.resolve(),
      assertQueue: () => Promise.resolve(),
      checkQueue: () => Promise.resolve(),
      unbindExchange: () => Promise.resolve(),
      consume: () => Promise.resolve({ consumerTag: "t" }),
      cancel: () => Promise.resolve(),
      close: () => Promise.resolve(),
      publish: () => true,
    });
    const aborting = new AbortController();
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", onWarning);
    const start = (queue: string): ReturnType<typeof consumeWithRetries> =>
      consumeWithRetries(channel as never, queue, () => undefined, {
        policy: RetryPolicy.none(),
        signal: aborting.signal,
      });
    await (await start("first")).stop();
    const before = channel.listenerCount("close");
    const consumers = await Promise.all(Array.from({ length: 20 }, (_, index) => start(`q${index}`)));
    await Promise.all(consumers.slice(0, 10).map((consumer) => consumer.stop()));
    assert.equal(channel.listenerCount("close"), before + 1);
    aborting.abort();
    await Promise.all(consumers.map(({ ended }) => ended));
    assert.equal(channel.listenerCount("close"), before);
    process.off("warning", onWarning);
    assert.deepEqual(warnings, []);
  });
});
