"use strict";

// A service's own stack with two endpoints, under the login of whoever deploys it.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { EndpointDelayBinding } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost, username = "guest" } = config.requireObject("broker");
const password = config.get("brokerPassword") ?? "guest";
const broker = new pulumi.StackReference("organization/rabbitmq-delay/test");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username, password });
const network = broker.requireOutput("delayNetwork");
const common = { network, createQueue: true, vhost, removal: "delete" };

new EndpointDelayBinding("other", { endpoint: "Other", ...common }, { provider });
new EndpointDelayBinding("billing", { endpoint: "Billing", ...common }, { provider });
