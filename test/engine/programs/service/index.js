"use strict";

// A service's own stack: it knows the network only by the descriptor that the broker's stack exports.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { EndpointDelayBinding } = require("pulumi-rabbitmq-delay");

const { managementUrl, vhost } = new pulumi.Config("rabbitmq-delay").requireObject("broker");
const broker = new pulumi.StackReference("organization/rabbitmq-delay/test");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const network = broker.requireOutput("delayNetwork");
const removal = "delete";

new EndpointDelayBinding("billing", { endpoint: "Billing", network, createQueue: true, vhost, removal }, { provider });

// An endpoint can be an exchange; behind a topic exchange the key still has its digits.
const tasks = new rabbitmq.Exchange(
  "tasks",
  { name: "tasks", vhost, settings: { type: "topic", durable: true } },
  { provider },
);
const argumentsJson = '{"x-queue-type":"quorum"}';
const work = new rabbitmq.Queue(
  "work",
  { name: "work", vhost, settings: { durable: true, argumentsJson } },
  { provider },
);
new rabbitmq.Binding(
  "work",
  { source: tasks.name, vhost, destination: work.name, destinationType: "queue", routingKey: "*.*.*.orders.paid" },
  { provider },
);
new EndpointDelayBinding(
  "tasks",
  { endpoint: "tasks", destination: tasks.name, endpointType: "exchange", patterns: ["orders.paid"], network, vhost },
  { provider },
);
