"use strict";

// A service that is killed between the confirm of a message's copy and the acknowledgement of the message.
const amqp = require("amqplib");
const { RetryPolicy, consumeWithRetries, throughDeclared } = require("@rabbitmq-delay/publish");

const [url, queue, descriptor] = process.argv.slice(2);

async function main() {
  const channel = await (await amqp.connect(url)).createConfirmChannel();
  const fail = () => {
    throw new Error("broken");
  };
  const retryIntervals = JSON.parse(descriptor);
  await consumeWithRetries(channel, queue, fail, {
    policy: RetryPolicy.intervals([retryIntervals.intervalsMs[0]]),
    mechanism: throughDeclared(retryIntervals),
    onFailure: () => process.kill(process.pid, "SIGKILL"),
  });
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
