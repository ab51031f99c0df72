"use strict";

const { RetryPolicy, throughDeclared } = require("@rabbitmq-delay/publish");
const { outputs, run, showRetries } = require("../shared/timeline");

const { delayedRetry } = outputs();

run(() =>
  showRetries({
    queue: delayedRetry.queue,
    // The broker's delays grow by themselves: 0.5, 1, 1.2 seconds.
    policy: RetryPolicy.declared(delayedRetry),
    mechanism: throughDeclared(delayedRetry),
  }),
);
