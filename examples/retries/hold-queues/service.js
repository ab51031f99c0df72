"use strict";

const { RetryPolicy, holdFor, throughDeclared } = require("@rabbitmq-delay/publish");
const { outputs, run, show, showRetries, withChannel } = require("../shared/timeline");

const { holdQueues } = outputs();

/** A message for any exchange, held in a queue that is made on demand and goes when nobody uses it any more. */
async function remind(channel) {
  const hold = { delayMs: 1500, exchange: "example-orders", routingKey: "reminder.first" };
  const options = { leaseMs: 60_000, onQueue: () => show("reminder", "is held for 1.5 s") };
  await holdFor(channel, hold, { body: "reminder" }, options);
}

run(async () => {
  await withChannel(remind);
  await showRetries({
    queue: "example-reminders",
    policy: RetryPolicy.declared(holdQueues),
    mechanism: throughDeclared(holdQueues),
    expected: ["reminder"],
  });
});
