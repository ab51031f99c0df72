"use strict";

// Publishes to the exchange shop as to one of the delayed-message plugin: node examples/from-the-plugin/amqplib/publish.js KEY DELAY_MS TEXT
const amqp = require("amqplib");

async function main([key, delayMs, text]) {
  if (text === undefined) throw new Error("usage: publish.js KEY DELAY_MS TEXT");
  const connection = await amqp.connect(process.env.RABBITMQ_URL);
  // What is still to be confirmed says why.
  connection.on("error", () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    let refusal;
    channel.on("error", (error) => (refusal = error));
    // before: await channel.assertExchange("shop", "x-delayed-message", { arguments: { "x-delayed-type": "topic" } });
    const options = { headers: { "x-delay": Number(delayMs) }, persistent: true, mandatory: true };
    channel.publish("shop", key, Buffer.from(text), options);
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
