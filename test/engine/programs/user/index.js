"use strict";

// A network, a work queue, and a service's user that may do what the service does and nothing else.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology, EndpointDelayBinding, EndpointUser, WorkRetryQueues } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const { user, credentials, ...network } = config.requireObject("network");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const removal = "delete";

const topology = new DelayLevelTopology("delay", { ...network, vhost, removal }, { provider });
for (const endpoint of ["Sales", "Other"]) {
  const errorQueue = endpoint === "Sales" ? "Sales_error" : undefined;
  new EndpointDelayBinding(
    endpoint,
    { network: topology, endpoint, createQueue: true, errorQueue, vhost, removal },
    { provider },
  );
}
const work = new WorkRetryQueues("work", { queue: "work", delays: [30], vhost, removal }, { provider });
const access = new EndpointUser(
  "service",
  {
    user,
    credentials,
    consumes: ["Sales", "work"],
    network: topology.network,
    destinations: ["Sales"],
    retries: [work.workRetry],
    errorQueue: "Sales_error",
    vhost,
  },
  { provider },
);

exports.users = access.users;
exports.workRetry = work.workRetry;
