"use strict";

// RabbitMQ 4.3's own delayed retry; against an older broker, the preview fails and says so.
const { DelayedRetryQueue } = require("pulumi-rabbitmq-delay");
const { broker, provider } = require("../shared/broker");

const payments = new DelayedRetryQueue(
  "payments",
  { queue: "example-payments", broker, minMs: 500, maxMs: 1200, deliveryLimit: 3, removal: "delete" },
  { provider },
);

exports.delayedRetry = payments.delayedRetry;
