"use strict";

// A service that listens to no event of its channels and catches each rejection; prints them, and that it is alive at the end.
const amqp = require("amqplib");
const { RetryPolicy, consumeWithRetries, createDelayPublisher, throughDeclared } = require("@rabbitmq-delay/publish");

const [consumerUrl, publisherUrl, descriptor] = process.argv.slice(2);
const network = JSON.parse(descriptor);

async function main() {
  const publishing = await amqp.connect(publisherUrl);
  const publisher = createDelayPublisher(await publishing.createConfirmChannel(), network);
  await publisher.publish("Billing", "x", { delayMs: 10 }).catch((error) => console.log(`publish: ${error.message}`));
  await publishing.close();

  const consuming = await amqp.connect(consumerUrl);
  const fails = () => {
    throw new Error("broken");
  };
  const options = { policy: RetryPolicy.intervals([10]), mechanism: throughDeclared(network) };
  const consumer = await consumeWithRetries(await consuming.createConfirmChannel(), "Billing", fails, options);
  await consumer.ended.catch((error) => console.log(`ended: ${error.message}`));
  await consuming.close();
  console.log("alive");
}

void main();
