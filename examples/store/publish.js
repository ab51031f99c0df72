"use strict";

// Publishes with the header that the archived plugin reads: node examples/store/publish.js QUEUE DELAY_MS TEXT [ID]
const amqp = require("amqplib");

async function main([queue, delayMs, text, messageId]) {
  const connection = await amqp.connect(process.env.RABBITMQ_URL);
  const channel = await connection.createConfirmChannel();
  const headers = { "x-delay": Number(delayMs) };
  channel.publish("delayed", queue, Buffer.from(text), { headers, messageId, persistent: true, mandatory: true });
  await channel.waitForConfirms();
  await connection.close();
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
