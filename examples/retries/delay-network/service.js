"use strict";

const { RetryPolicy, throughDelayNetwork } = require("rabbitmq-delay-publish");
const { outputs, run, showRetries } = require("../shared/timeline");

run(() =>
  showRetries({
    queue: "example-shipping",
    policy: RetryPolicy.exponential(3, 1000, 3000),
    mechanism: throughDelayNetwork(outputs().delayNetwork),
  }),
);
