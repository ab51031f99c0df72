"use strict";

// Publishes delayed messages over connections that break, by rabbitmq-client 5, which connects again by itself; a channel is acquired anew.
const { randomUUID } = require("node:crypto");
const { setTimeout: pause } = require("node:timers/promises");
const { Connection } = require("rabbitmq-client");
const { ChannelClosedError, PublishTimeoutError, createDelayPublisher } = require("@rabbitmq-delay/publish");

/** @returns a function that publishes one message, and resolves when the broker has it; and `close` */
exports.createLastingPublisher = (url, network) => {
  const connection = new Connection({ url, retryLow: 100, retryHigh: 2000 });
  connection.on("error", () => undefined);
  let current;

  async function open() {
    const channel = await connection.acquire();
    // A publisher belongs to one channel: the next message gets another one.
    channel.once("close", () => (current = undefined));
    return { channel, publisher: createDelayPublisher(channel, network) };
  }

  async function publish(destination, body, { delayMs, ...options }) {
    // The same id and due time for each attempt: a copy can be recognised, and no attempt adds to the delay.
    const message = { messageId: randomUUID(), ...options, at: new Date(Date.now() + delayMs) };
    for (;;) {
      try {
        const { publisher } = await (current ??= open());
        return await publisher.publish(destination, body, message);
      } catch (error) {
        const isLost = error instanceof ChannelClosedError || error instanceof PublishTimeoutError;
        if (!isLost && !/^AMQP/.test(error.name)) throw error;
        current = undefined;
        await pause(100);
      }
    }
  }

  async function close() {
    // The connection waits for its channels.
    await (await current)?.channel.close();
    await connection.close();
  }
  return { publish, close };
};
