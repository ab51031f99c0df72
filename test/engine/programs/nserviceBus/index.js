"use strict";

// One stack for a team that runs NServiceBus without its installers: the network, two endpoints, and their users.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology, EndpointDelayBinding, EndpointUser } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const { users, brokerVersion, messageTypes, ...endpoint } = config.requireObject("network");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const client = "nservicebus";
const { routingTopology } = endpoint;
const removal = "delete";

const network = new DelayLevelTopology(
  "delay",
  { preset: "nservicebus", matching: "enforced", vhost, removal, brokerVersion },
  { provider },
);
const names = ["Sales", "Europe.Sales"];
for (const name of names) {
  const errorQueue = name === "Sales" ? "error" : undefined;
  new EndpointDelayBinding(name, { endpoint: name, client, network, errorQueue, brokerVersion, ...endpoint });
  const user = users[name];
  const credentials = [{ password: `password of ${name}` }];
  const common = { client, network, routingTopology, destinations: names, errorQueue: "error" };
  new EndpointUser(name, { user, credentials, consumes: [name], messageTypes: messageTypes?.[name], ...common });
}
