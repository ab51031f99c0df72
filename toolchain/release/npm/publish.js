"use strict";

const assert = require("node:assert/strict");
const amqp = require("amqplib");
const { createDelayPublisher } = require("@rabbitmq-delay/publish");
const { delayNetwork, planBinding, planEntities } = require("@rabbitmq-delay/topology");

const DELAY_MS = 300;

/** Declares what a stack declares, but for its policies. */
async function declare(channel, network, endpoint) {
  const plans = [planEntities(network), planBinding(network, endpoint)];
  for (const { exchanges = [], queues = [] } of plans) {
    for (const { name, type, durable } of exchanges) await channel.assertExchange(name, type, { durable });
    for (const { name, durable, arguments: given } of queues)
      await channel.assertQueue(name, { durable, arguments: given });
  }
  for (const { source, destination, destinationType, routingKey } of plans.flatMap(({ bindings }) => bindings)) {
    if (destinationType === "queue") await channel.bindQueue(destination, source, routingKey);
    else await channel.bindExchange(destination, source, routingKey);
  }
}

async function main() {
  const connection = await amqp.connect(process.env.RABBITMQ_URL);
  const channel = await connection.createConfirmChannel();
  const network = delayNetwork({ preset: "custom", prefix: "dry-run", radix: 4, levels: 3, unitMs: 10 });
  await channel.assertQueue("dry-run-billing", { durable: true });
  await declare(channel, network, { name: "dry-run-billing" });
  const arrived = new Promise((resolve) => channel.consume("dry-run-billing", resolve, { noAck: true }));
  const startedAt = Date.now();
  await createDelayPublisher(channel, network).publish("dry-run-billing", { invoice: 4711 }, { delayMs: DELAY_MS });
  const { content } = await arrived;
  assert.deepEqual(JSON.parse(content), { invoice: 4711 });
  assert.ok(Date.now() - startedAt >= DELAY_MS, "it is early");
  await connection.close();
  console.log("ok");
}

void main();
