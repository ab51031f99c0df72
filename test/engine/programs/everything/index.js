"use strict";

// Everything that version 0.1.0 could declare, as a program of its time does: the state in test/engine/fixtures was recorded of this
// file with that version, so a change of it is what a user has to change, too. Only what today's version asks for is marked.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const {
  DelayLevelTopology,
  DelayedMessageStore,
  DelayedRetryQueue,
  EndpointDelayBinding,
  EndpointUser,
  HoldQueues,
  RetryIntervalQueues,
  WorkRetryQueues,
} = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const { hasDelayedRetry, password: given } = config.requireObject("network");
const login = { username: "guest", password: "guest" };
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, ...login });
const options = { provider };
const password = pulumi.secret(given);

// A network of each preset, and custom ones of three shapes; `orders` has delays of seconds, `years` of hours.
const nsb = new DelayLevelTopology("nsb", { preset: "nservicebus", vhost }, options);
const nsbV1 = new DelayLevelTopology("nsb-v1", { preset: "nservicebus-v1", matching: "suffix", vhost }, options);
const celery = new DelayLevelTopology("celery", { preset: "celery", prefix: "eu", vhost }, options);
const orders = new DelayLevelTopology(
  "delay",
  { preset: "custom", prefix: "orders", levels: 4, unitMs: 250, vhost },
  options,
);
const years = { preset: "custom", prefix: "years", radix: 16, levels: 1, unitMs: 3_600_000 };
const ages = new DelayLevelTopology("ages", { ...years, matching: "suffix", vhost }, options);
const bare = { preset: "custom", prefix: "bare", radix: 2, levels: 2, unitMs: 3_600_000, queueType: "classic" };
new DelayLevelTopology("bare", { ...bare, parking: false, removal: "delete", vhost }, options);
// As a service has it that keeps the descriptor in a file.
const bareDescriptor = {
  kind: "delay-network",
  version: 1,
  preset: "custom",
  prefix: "bare.r2x2u3600000c",
  radix: 2,
  levels: 2,
  unitMs: 3_600_000,
  queueType: "classic",
  matching: "exact",
  entryExchanges: ["bare.r2x2u3600000c.level-00", "bare.r2x2u3600000c.level-01"],
  deliveryExchange: "bare.r2x2u3600000c.delivery",
  maximumDelayMs: 10_800_000,
};

const { retryIntervals } = new RetryIntervalQueues("retries", { intervals: ["20s", "5h"], vhost }, options);
const slow = { intervals: ["5h"], prefix: "slow", queueType: "quorum", removal: "delete" };
const slowIntervals = new RetryIntervalQueues("slow", { ...slow, vhost }, options).retryIntervals;

const work = new WorkRetryQueues("work", { queue: "work", delays: ["20s", "2h"], vhost }, options);
new WorkRetryQueues(
  "batch",
  {
    queue: "batch",
    delays: ["2h", "3h"],
    maxRetries: 5,
    patterns: ["batch.#"],
    queueType: "classic",
    rejected: "retry",
    removal: "delete",
    vhost,
  },
  options,
);

const destinations = [{ exchange: "", routingKey: "Sales" }];
new HoldQueues("holds", { delays: ["20s", "3h"], destinations, vhost }, options);
new HoldQueues("safe", { delays: ["3h"], destinations, prefix: "safe", queueType: "quorum", vhost }, options);
new HoldQueues("leased", { delays: ["3h"], destinations, prefix: "leased", leaseMs: 3_600_000, vhost }, options);

if (hasDelayedRetry) {
  const broker = { managementUrl, ...login };
  new DelayedRetryQueue("counted", { queue: "counted", minMs: 5000, broker, vhost }, options);
  const byPolicy = { queue: "tuned", minMs: 5000, maxMs: 60_000, deliveryLimit: 7, settings: "policy" };
  // Its provider says where the broker is.
  new DelayedRetryQueue("tuned", { ...byPolicy, vhost }, options);
}

// Queues of endpoints: made along or by the program, with patterns, of a network of this program or out of another stack.
const quorum = { durable: true, argumentsJson: '{"x-queue-type":"quorum"}' };
const kept = { ...options, retainOnDelete: true };
const inbox = new rabbitmq.Queue("inbox", { name: "invoices-in", vhost, settings: quorum }, kept);
const tasks = new rabbitmq.Exchange(
  "tasks",
  { name: "tasks", vhost, settings: { type: "topic", durable: true } },
  options,
);
const endpoint = (name, args) => new EndpointDelayBinding(name, { endpoint: name, vhost, ...args }, options);
endpoint("Sales", { network: orders, createQueue: true, retryIntervals });
endpoint("Europe.Sales", { network: orders, createQueue: true, queueType: "classic", removal: "delete" });
endpoint("Invoices", {
  network: orders,
  destination: inbox.name,
  patterns: ["Invoices", "invoice.*"],
  retryIntervals,
});
endpoint("Counted", { network: orders, createQueue: true, queueArguments: { "x-delivery-limit": 5 } });
endpoint("tasks", { network: celery, destination: tasks.name, endpointType: "exchange" });
endpoint("Billing", { network: nsb, createQueue: true });
// Today's version asks for `allow`: NServiceBus itself mixes these two up.
endpoint("Europe.Billing", { network: nsb, createQueue: true, allow: ["Billing with Europe.Billing"] });
endpoint("Archive", { network: nsbV1, createQueue: true });
endpoint("Reports", { network: orders.network, createQueue: true });
endpoint("Ledger", { network: bareDescriptor, createQueue: true });
endpoint("Audit", { network: bareDescriptor, createQueue: true, owner: "auditors" });
endpoint("Yearly", { network: ages, createQueue: true });
endpoint("Mail", { retryIntervals: slowIntervals, createQueue: true });

new DelayedMessageStore(
  "store",
  {
    storeName: "later",
    forwards: [{ exchange: "in", delivery: "out", type: "direct" }],
    exchanges: ["tasks"],
    user: `${vhost}-store`,
    credentials: [{ suffix: "2026", password }, { suffix: "2027" }],
    vhost,
  },
  options,
);
new DelayedMessageStore("plain", { toQueues: false, removal: "delete", vhost }, options);

new EndpointUser(
  "sales",
  {
    user: `${vhost}-sales`,
    credentials: [{ suffix: "2026", password }, { suffix: "2027" }],
    consumes: ["Sales", "work"],
    network: orders.network,
    destinations: ["Invoices"],
    retries: [work.workRetry, retryIntervals],
    publishes: ["tasks"],
    vhost,
  },
  options,
);
new EndpointUser("mail", { user: `${vhost}-mail`, credentials: [{}], consumes: ["Mail"], vhost }, options);

exports.delayNetwork = orders.network;
exports.retryIntervals = retryIntervals;
exports.workRetry = work.workRetry;
