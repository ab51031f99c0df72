"use strict";

// One stack for a team that runs NServiceBus without its installers: the network with exact matching enforced, two endpoints of which one's
// name ends with the other's, their error queue, and the users of the services.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology, EndpointDelayBinding, EndpointUser } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config();
const vhost = config.get("vhost") ?? "/";
const brokerVersion = config.get("brokerVersion");
// Put before the names of the users, which all vhosts of a broker share.
const userPrefix = config.get("userPrefix") ?? "";
const provider = new rabbitmq.Provider("broker", {
  endpoint: config.require("managementUrl"),
  username: config.get("username") ?? "guest",
  password: config.getSecret("password") ?? "guest",
});

const client = "nservicebus";
const errorQueue = "error";
const names = ["Sales", "Europe.Sales"];
const network = new DelayLevelTopology(
  "delay",
  { preset: "nservicebus", matching: "enforced", vhost, brokerVersion },
  { provider },
);

const logins = {};
for (const name of names) {
  // The first one declares the error queue that they share.
  const declared = name === names[0] ? errorQueue : undefined;
  new EndpointDelayBinding(name, { endpoint: name, client, network, errorQueue: declared, brokerVersion });
  const service = new EndpointUser(name, {
    user: `${userPrefix}${name}`,
    // The password is generated.
    credentials: [{}],
    client,
    network,
    consumes: [name],
    destinations: names,
    errorQueue,
  });
  logins[name] = { user: service.users[0], password: service.passwords[0] };
}

exports.delayNetwork = network.network;
exports.logins = pulumi.secret(logins);
