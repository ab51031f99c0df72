"use strict";

const { RetryPolicy, throughDeclared } = require("@rabbitmq-delay/publish");
const { outputs, run, showRetries } = require("../shared/timeline");

run(() =>
  showRetries({
    queue: "example-billing",
    policy: RetryPolicy.immediate(1).intervals(["500ms", "2s"]),
    mechanism: throughDeclared(outputs().retryIntervals),
  }),
);
