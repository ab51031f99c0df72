"use strict";

// Publishes with the header that the archived plugin reads: node examples/store/publish.js QUEUE DELAY_MS TEXT [ID]
const amqp = require("amqplib");

async function main([queue, delayMs, text, messageId]) {
  if (text === undefined) throw new Error("usage: node examples/store/publish.js QUEUE DELAY_MS TEXT [ID]");
  const connection = await amqp.connect(process.env.RABBITMQ_URL);
  // What is still to be confirmed says why.
  connection.on("error", () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    let refusal;
    channel.on("error", (error) => (refusal = error));
    const headers = { "x-delay": Number(delayMs) };
    channel.publish("delayed", queue, Buffer.from(text), { headers, messageId, persistent: true, mandatory: true });
    await channel.waitForConfirms().catch((error) => {
      throw refusal ?? error;
    });
  } finally {
    await connection.close();
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
