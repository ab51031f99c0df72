"use strict";

const { RetryPolicy, throughDeclared } = require("@rabbitmq-delay/publish");
const { outputs, run, showRetries } = require("../shared/timeline");

const { workRetry } = outputs();

run(() =>
  showRetries({
    queue: workRetry.name,
    exchange: workRetry.name,
    routingKey: "invoice.created",
    // The stack says how often and when.
    policy: RetryPolicy.declared(workRetry),
    mechanism: throughDeclared(workRetry),
  }),
);
