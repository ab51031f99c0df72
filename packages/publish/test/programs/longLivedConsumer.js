"use strict";

// A consumer that gets many messages, one after the other; prints for each kind of handler how many bytes of heap each message leaves behind.
const { EventEmitter } = require("node:events");
const { setImmediate } = require("node:timers");
const { setTimeout: sleep } = require("node:timers/promises");
const { RetryPolicy, consumeWithRetries } = require("@rabbitmq-delay/publish");

const MESSAGES = 3000;

/** A stand-in for amqplib's channel, which confirms at once. */
class Channel extends EventEmitter {
  waitForConfirms() {}
  async prefetch() {}
  async assertQueue() {}
  async checkQueue() {}
  async unbindExchange() {}
  async cancel() {}
  async close() {}
  async consume(_queue, onMessage) {
    this.onMessage = onMessage;
    return { consumerTag: "t" };
  }
  ack({ done }) {
    done();
  }
  publish(_exchange, _key, _body, _options, confirm) {
    setImmediate(confirm, null);
    return true;
  }
  async deliver(count) {
    for (let index = 0; index < count; index++) {
      await new Promise((done) => {
        const fields = { exchange: "", routingKey: "q", redelivered: false };
        this.onMessage({ content: Buffer.from("x"), fields, properties: { messageId: "m" }, done });
      });
      await new Promise(setImmediate);
    }
  }
}

async function heapBytes() {
  await sleep(50);
  global.gc();
  return process.memoryUsage().heapUsed;
}

async function bytesPerMessage(handler, options) {
  const channel = new Channel();
  const consumer = await consumeWithRetries(channel, "q", handler, { policy: RetryPolicy.none(), ...options });
  await channel.deliver(500);
  const before = await heapBytes();
  await channel.deliver(MESSAGES);
  const after = await heapBytes();
  await consumer.stop();
  return Math.round((after - before) / MESSAGES);
}

async function main() {
  const listens = ({ signal }) => signal.addEventListener("abort", () => undefined, { once: true });
  const fails = ({ previousTries }) => {
    if (previousTries === 0) throw new Error("once");
  };
  const bytes = {
    "handlers that listen to their signal, with a time": await bytesPerMessage(listens, { handlerTimeoutMs: 60_000 }),
    "handlers that listen to their signal": await bytesPerMessage(listens, {}),
    "a try at once": await bytesPerMessage(fails, { policy: RetryPolicy.immediate(1) }),
  };
  console.log(JSON.stringify(bytes));
}

void main();
