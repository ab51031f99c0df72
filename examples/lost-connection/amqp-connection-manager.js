"use strict";

// Publishes delayed messages over connections that break, by amqp-connection-manager 5, which opens channels anew.
const { randomUUID } = require("node:crypto");
const { setTimeout: pause } = require("node:timers/promises");
const { connect } = require("amqp-connection-manager");
const { ChannelClosedError, PublishTimeoutError, createDelayPublisher } = require("@rabbitmq-delay/publish");

/** @returns a function that publishes one message, and resolves when the broker has it; and `close` */
exports.createLastingPublisher = (url, network) => {
  const connection = connect([url], { reconnectTimeInSeconds: 1 });
  let publisher;
  const channel = connection.createChannel({
    confirm: true,
    // A publisher belongs to one channel: each new channel gets its own.
    setup: (own) => void (publisher = createDelayPublisher(own, network)),
  });
  channel.on("error", () => undefined);
  // Each message that waits for a channel listens.
  channel.setMaxListeners(0);

  async function publish(destination, body, { delayMs, ...options }) {
    // The same id and due time for each attempt: a copy can be recognised, and no attempt adds to the delay.
    const message = { messageId: randomUUID(), ...options, at: new Date(Date.now() + delayMs) };
    for (;;) {
      await channel.waitForConnect();
      try {
        return await publisher.publish(destination, body, message);
      } catch (error) {
        if (!(error instanceof ChannelClosedError || error instanceof PublishTimeoutError)) throw error;
        await pause(100);
      }
    }
  }
  return { publish, close: () => connection.close() };
};
