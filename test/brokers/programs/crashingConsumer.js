"use strict";

// A service that is killed while it has messages of several queues at hand, each with its own way to retry.
const amqp = require("amqplib");
const { RetryPolicy, consumeWithRetries, throughDeclared, throughHoldsOnDemand } = require("@rabbitmq-delay/publish");

const [url, consumed] = process.argv.slice(2);

async function main() {
  const connection = await amqp.connect(url);
  const waiting = JSON.parse(consumed).map(async ({ queue, descriptor, errorQueue, delayMs }) => {
    const mechanism = descriptor === undefined ? throughHoldsOnDemand() : throughDeclared(descriptor);
    const policy = RetryPolicy.interval(1, delayMs);
    const channel = await connection.createConfirmChannel();
    await new Promise((resolve, reject) => {
      const handler = () => new Promise(resolve);
      consumeWithRetries(channel, queue, handler, { policy, mechanism, errorQueue }).catch(reject);
    });
  });
  await Promise.all(waiting);
  process.kill(process.pid, "SIGKILL");
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
