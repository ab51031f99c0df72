"use strict";

// A consumer as a service would write it: says when each message was due, and how late it came.
// Usage: node examples/receive.js QUEUE   (RABBITMQ_URL says where the broker is)
const amqp = require("amqplib");

async function main(queue) {
  const connection = await amqp.connect(process.env.RABBITMQ_URL ?? "amqp://127.0.0.1");
  connection.on("error", fail);
  const channel = await connection.createChannel();
  // The operation that was refused says why.
  channel.on("error", () => undefined);
  await channel.prefetch(100);
  const take = (message) => {
    if (message === null) throw new Error(`the broker cancelled the consumer of ${queue}`);
    console.log(`${new Date().toISOString()}  ${message.content}  ${lateness(message.properties.headers)}`);
    channel.ack(message);
  };
  await channel.consume(queue, take).catch(async (error) => {
    await connection.close();
    throw error;
  });
  console.log(`${new Date().toISOString()}  waiting on ${queue}; Ctrl-C ends`);
}

// Only messages by the publish helper say when they are due.
function lateness(headers) {
  const due = headers["rabbitmq-delay.due-at"];
  return due === undefined ? "" : `(due ${due}, ${Date.now() - new Date(due).getTime()} ms late)`;
}

function fail(error) {
  console.error(error.message);
  process.exitCode = 1;
}

main(process.argv[2] ?? "some-address").catch(fail);
