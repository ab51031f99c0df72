"use strict";

// Hold queues for the service's own retries, declared ahead, and an exchange for reminders that are held on demand.
const rabbitmq = require("@pulumi/rabbitmq");
const { HoldQueues } = require("pulumi-rabbitmq-delay");
const { provider, queue } = require("../shared/broker");

const reminders = queue("example-reminders");
queue("example-reminders_error");
const exchange = new rabbitmq.Exchange(
  "orders",
  { name: "example-orders", settings: { type: "topic", durable: true } },
  { provider },
);
new rabbitmq.Binding(
  "reminders",
  {
    source: exchange.name,
    vhost: "/",
    destination: reminders.name,
    destinationType: "queue",
    routingKey: "reminder.#",
  },
  { provider },
);
const holds = new HoldQueues(
  "retries",
  {
    delays: ["500ms", "2s"],
    destinations: [{ exchange: "", routingKey: "example-reminders" }],
    prefix: "example-hold",
    queueType: "quorum",
    removal: "delete",
  },
  { provider },
);

exports.holdQueues = holds.holdQueues;
