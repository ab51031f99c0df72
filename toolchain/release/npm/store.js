"use strict";

const assert = require("node:assert/strict");
const { delayedMessage, openStore } = require("@rabbitmq-delay/store");

async function main() {
  const store = openStore("sqlite:delayed.db");
  await store.setUpInfrastructure("delayed");
  const message = { messageId: "order-17", delayMs: 60_000, routingKey: "billing", body: "hello" };
  await store.store(delayedMessage(message));
  const { messages } = await store.list();
  assert.deepEqual(
    messages.map(({ messageId, routingKey }) => [messageId, routingKey]),
    [["order-17", "billing"]],
  );
  await store.close();
  console.log("ok");
}

void main();
