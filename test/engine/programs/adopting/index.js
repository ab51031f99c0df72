"use strict";

// A program of one's own that adopts a network and an endpoint, with a provider that preflight can ask, or can't.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology, EndpointDelayBinding } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const { proxy, adopt } = config.requireObject("network");
const login = { endpoint: managementUrl, username: "guest", password: "guest" };
const provider = new rabbitmq.Provider("broker", { ...login, proxy });
const network = new DelayLevelTopology("delay", { preset: "nservicebus", vhost, adopt }, { provider });
new EndpointDelayBinding("Sales", { endpoint: "Sales", client: "nservicebus", network, adopt });
