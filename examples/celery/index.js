"use strict";

// One stack for a team that runs Celery: the network, the queue of a worker, and the users of the worker and of a web application that only
// sends it tasks. The worker and the application in `service/` find everything declared as they would declare it.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology, EndpointDelayBinding, EndpointUser } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config();
const vhost = config.get("vhost") ?? "/";
const brokerVersion = config.get("brokerVersion");
// Put before the names of the users, which all vhosts of a broker share.
const userPrefix = config.get("userPrefix") ?? "shop-";
const provider = new rabbitmq.Provider("broker", {
  endpoint: config.require("managementUrl"),
  username: config.get("username") ?? "guest",
  password: config.getSecret("password") ?? "guest",
});

const client = "celery";
const queue = "orders";
const network = new DelayLevelTopology("delay", { preset: "celery", vhost, brokerVersion }, { provider });
const endpoint = new EndpointDelayBinding(queue, { endpoint: queue, client, network, brokerVersion });

// Their passwords are generated.
const login = { credentials: [{}], client, network };
const worker = new EndpointUser("worker", {
  ...login,
  user: `${userPrefix}worker`,
  consumes: [queue],
  destinations: [],
});
const web = new EndpointUser("web", { ...login, user: `${userPrefix}web`, destinations: [queue] });

exports.delayNetwork = network.network;
exports.queue = endpoint.destination;
exports.logins = pulumi.secret({
  worker: { user: worker.users[0], password: worker.passwords[0] },
  web: { user: web.users[0], password: web.passwords[0] },
});
