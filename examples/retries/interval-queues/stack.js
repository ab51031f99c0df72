"use strict";

// Interval queues as MassTransit declares them, here under a prefix of their own and as quorum queues.
const { EndpointDelayBinding, RetryIntervalQueues } = require("pulumi-rabbitmq-delay");
const { provider, queue } = require("../shared/broker");

const removal = "delete";
const retries = new RetryIntervalQueues(
  "retries",
  { intervals: ["500ms", "2s"], prefix: "example-retry", queueType: "quorum", removal },
  { provider },
);
new EndpointDelayBinding(
  "billing",
  { endpoint: "example-billing", createQueue: true, retryIntervals: retries.retryIntervals, removal },
  { provider },
);
queue("example-billing_error");

exports.retryIntervals = retries.retryIntervals;
