"use strict";

const { readFileSync } = require("node:fs");
const amqp = require("amqplib");
const { consumeWithRetries } = require("@rabbitmq-delay/publish");

const start = Date.now();
const COLUMNS_PER_SECOND = 8;
const MOST_COLUMNS = 60;

/** The messages of the examples, by how often each fails. */
const failuresOf = { flaky: 2, broken: Infinity, reminder: 1 };

/** What the example's stack declared. */
exports.outputs = () => JSON.parse(readFileSync(process.env.STACK_OUTPUTS, "utf8"));

/** A line of the timeline: the further right its mark, the later. */
exports.show = (message, what) => {
  const seconds = (Date.now() - start) / 1000;
  const mark = `${" ".repeat(Math.min(MOST_COLUMNS, Math.round(seconds * COLUMNS_PER_SECOND)))}●`;
  console.log(`${seconds.toFixed(2).padStart(6)} s  ${message.padEnd(9)} ${what.padEnd(48)} ${mark}`);
};

/** Connects, hands over a channel with confirms, and disconnects, also after a refusal: an open connection would keep the process alive. */
exports.withChannel = async (body) => {
  const connection = await amqp.connect(process.env.RABBITMQ_URL);
  connection.on("error", (error) => console.error(error.message));
  try {
    await body(await connection.createConfirmChannel());
  } finally {
    await connection.close();
  }
};

/**
 * Publishes a message that fails twice and one that always fails, and prints each try until both are settled.
 * @param {object} options those of consumeWithRetries; and the queue, how to publish to it, and messages that come by themselves
 */
exports.showRetries = async ({ queue, exchange = "", routingKey = queue, expected = [], ...options }) => {
  const published = ["flaky", "broken"];
  const open = new Set([...published, ...expected]);
  await exports.withChannel(async (channel) => {
    let end;
    const settled = new Promise((resolve) => (end = resolve));
    const settle = (name) => {
      open.delete(name);
      if (open.size === 0) end();
    };
    const handler = ({ body, previousTries, routingKey: key }) => {
      const name = body.toString();
      const succeeds = previousTries >= failuresOf[name];
      exports.show(name, `try ${previousTries + 1}, key ${key}: ${succeeds ? "succeeds" : "fails"}`);
      if (!succeeds) throw new Error("the bank does not answer");
      settle(name);
    };
    const onFailure = ({ kind, errorQueue }) => {
      if (kind !== "failed") return;
      exports.show("broken", `goes to ${errorQueue}`);
      settle("broken");
    };
    const consumer = await consumeWithRetries(channel, queue, handler, { ...options, onFailure });
    for (const name of published) {
      channel.publish(exchange, routingKey, Buffer.from(name), { persistent: true, messageId: name });
    }
    await settled;
    await consumer.stop();
  });
};

/** Runs a service; what goes wrong is one line. */
exports.run = (main) =>
  main().catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
