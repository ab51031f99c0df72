"use strict";

// A work queue behind an exchange of its own; what fails comes back under the same routing key, three times at most.
const { WorkRetryQueues } = require("pulumi-rabbitmq-delay");
const { provider } = require("../shared/broker");

const work = new WorkRetryQueues(
  "invoices",
  { queue: "example-invoices", delays: ["500ms", "2s"], maxRetries: 3, removal: "delete" },
  { provider },
);

exports.workRetry = work.workRetry;
