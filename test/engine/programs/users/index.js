"use strict";

// Everything that services share on a broker, and a user for each part of a service.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const {
  DelayLevelTopology,
  DelayedMessageStore,
  EndpointDelayBinding,
  EndpointUser,
  RetryIntervalQueues,
  WorkRetryQueues,
} = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const { prefix, password, ...network } = config.requireObject("network");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const common = { vhost, removal: "delete" };
const options = { provider };

const topology = new DelayLevelTopology("delay", { ...network, prefix: "orders", ...common }, options);
for (const endpoint of ["Sales", "Other"]) {
  new EndpointDelayBinding(endpoint, { network: topology, endpoint, createQueue: true, ...common }, options);
}
const work = new WorkRetryQueues("work", { queue: "work", delays: [30], ...common }, options);
const { retryIntervals } = new RetryIntervalQueues("intervals", { intervals: [30], ...common }, options);
const credentials = [{ password }];
new DelayedMessageStore(
  "store",
  {
    storeName: "later",
    forwards: [{ exchange: "in", delivery: "out" }],
    toQueues: false,
    user: `${prefix}-store`,
    credentials,
    ...common,
  },
  options,
);

const does = {
  limited: { consumes: ["Sales", "work"], network: topology.network, destinations: [], retries: [work.workRetry] },
  publisher: { network: topology.network },
  consumer: { consumes: ["Other"], retries: [retryIntervals] },
  idle: {},
};
for (const [part, args] of Object.entries(does)) {
  new EndpointUser(part, { ...args, user: `${prefix}-${part}`, credentials, vhost }, options);
}
