"use strict";

const { DelayLevelTopology, EndpointDelayBinding } = require("@rabbitmq-delay/rabbitmq-delay");

const delay = new DelayLevelTopology("delay", { preset: "custom", prefix: "orders", radix: 4, levels: 4 });
new EndpointDelayBinding("billing", { endpoint: "Billing", network: delay.network, createQueue: true });

exports.delayNetwork = delay.network;
