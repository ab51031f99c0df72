"use strict";

// Prints what the exchange shop has delayed, with the time: node examples/from-the-plugin/amqplib/receive.js KEY
const amqp = require("amqplib");

async function main([key]) {
  if (key === undefined) throw new Error("usage: receive.js KEY");
  const connection = await amqp.connect(process.env.RABBITMQ_URL);
  connection.on("error", (error) => console.error(error.message));
  const channel = await connection.createChannel();
  // The operation that was refused says why.
  channel.on("error", () => undefined);
  await channel.assertQueue(key, { durable: true, arguments: { "x-queue-type": "quorum" } });
  // before: await channel.bindQueue(key, "shop", key);
  await channel.bindQueue(key, "shop.delivery", key).catch(async (error) => {
    await connection.close();
    throw error;
  });
  await channel.consume(key, (message) => {
    if (message === null) throw new Error(`the broker cancelled the consumer of ${key}`);
    console.log(`${new Date().toISOString()}  ${message.content}`);
    channel.ack(message);
  });
  console.log(`${new Date().toISOString()}  waiting for ${key}; Ctrl-C ends`);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
