"use strict";

// A service's own stack that joins the network of make up's stack, for retries after any delay.
const pulumi = require("@pulumi/pulumi");
const { EndpointDelayBinding } = require("pulumi-rabbitmq-delay");
const { provider, queue } = require("../shared/broker");

const broker = new pulumi.StackReference(process.env.DELAY_STACK ?? "organization/rabbitmq-delay/dev");
const network = broker.requireOutput("delayNetwork");
new EndpointDelayBinding(
  "shipping",
  { endpoint: "example-shipping", network, createQueue: true, removal: "delete" },
  { provider },
);
queue("example-shipping_error");

exports.delayNetwork = network;
