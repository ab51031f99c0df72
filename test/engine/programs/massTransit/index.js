"use strict";

// One stack for a team that runs MassTransit: the network, a consumer's queue, the exchange of a message type, and users of the service.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology, EndpointDelayBinding, EndpointUser } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const { users, brokerVersion, queueType } = config.requireObject("network");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const client = "masstransit";
const removal = "delete";

const network = new DelayLevelTopology(
  "delay",
  { preset: "custom", prefix: "delay", radix: 16, levels: 7, unitMs: 100, vhost, removal, brokerVersion },
  { provider },
);
const common = { client, network, brokerVersion };
new EndpointDelayBinding("orders", { endpoint: "Orders", queueType, ...common });
const messageType = "Lab.Orders:Order";
new EndpointDelayBinding("order", { endpoint: messageType, endpointType: "exchange", ...common });
const credentials = [{ password: "the service's password" }];
for (const [user, messageTypes] of Object.entries(users)) {
  new EndpointUser(user, { user, credentials, client, network, consumes: ["Orders"], messageTypes });
}
exports.network = network.network;
