"use strict";

// One stack for a team that runs MassTransit without the delayed-message plugin: a network, the queue of a consumer, the exchange of a
// message type that is published with a delay, and the service's user. The service needs the add-in of clients/dotnet.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology, EndpointDelayBinding, EndpointUser } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config();
const vhost = config.get("vhost") ?? "/";
const brokerVersion = config.get("brokerVersion");
// Put before the name of the user, which all vhosts of a broker share.
const userPrefix = config.get("userPrefix") ?? "";
const provider = new rabbitmq.Provider("broker", {
  endpoint: config.require("managementUrl"),
  username: config.get("username") ?? "guest",
  password: config.getSecret("password") ?? "guest",
});

const client = "masstransit";
const queue = "orders";
const messageType = "Shop.Contracts:OrderPlaced";
const network = new DelayLevelTopology(
  "delay",
  { preset: "custom", prefix: "delay", radix: 16, levels: 7, unitMs: 100, vhost, brokerVersion },
  { provider },
);

// The queue as the service declares it after SetQuorumQueue().
new EndpointDelayBinding(queue, { endpoint: queue, client, queueType: "quorum", network, brokerVersion });
const published = { endpoint: messageType, endpointType: "exchange", client, network, brokerVersion };
new EndpointDelayBinding("order-placed", published);
const service = new EndpointUser(queue, {
  user: `${userPrefix}${queue}`,
  // The password is generated.
  credentials: [{}],
  client,
  network,
  consumes: [queue],
  messageTypes: [messageType],
});

exports.delayNetwork = network.network;
exports.logins = pulumi.secret({ [queue]: { user: service.users[0], password: service.passwords[0] } });
