"use strict";

const { RetryPolicy, throughDeclared } = require("@rabbitmq-delay/publish");
const { outputs, run, showRetries } = require("../shared/timeline");

run(() =>
  showRetries({
    queue: "example-shipping",
    policy: RetryPolicy.exponential(3, 1000, 3000),
    mechanism: throughDeclared(outputs().delayNetwork),
  }),
);
