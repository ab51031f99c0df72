"use strict";

const { RetryPolicy, throughRetryIntervals } = require("rabbitmq-delay-publish");
const { outputs, run, showRetries } = require("../shared/timeline");

run(() =>
  showRetries({
    queue: "example-billing",
    policy: RetryPolicy.immediate(1).intervals(["500ms", "2s"]),
    mechanism: throughRetryIntervals(outputs().retryIntervals),
  }),
);
