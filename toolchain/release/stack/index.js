"use strict";

const { DelayLevelTopology, EndpointDelayBinding, EndpointUser } = require("pulumi-rabbitmq-delay");

const delay = new DelayLevelTopology("delay", { preset: "custom", prefix: "orders", radix: 4, levels: 4 });
new EndpointDelayBinding("billing", { endpoint: "Billing", network: delay, createQueue: true });
new EndpointUser("user", {
  user: "billing",
  credentials: [{ password: "a password of the service" }],
  consumes: ["Billing"],
  network: delay,
});

exports.delayNetwork = delay.network;
