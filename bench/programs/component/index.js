"use strict";

// The components as a user would use them: one network, and the endpoints of the config.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology, EndpointDelayBinding } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const removal = "delete";
const topology = new DelayLevelTopology("delay", { ...config.requireObject("network"), vhost, removal }, { provider });
for (const { name } of config.getObject("endpoints") ?? []) {
  new EndpointDelayBinding(
    name,
    { network: topology, endpoint: name, createQueue: true, vhost, removal },
    { provider },
  );
}
