"use strict";

// The same resources without components, all at the top level.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { delayNetwork, parkingPolicy, planBinding, planEntities } = require("@rabbitmq-delay/topology");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const network = delayNetwork(config.requireObject("network"));
const { exchanges, queues, bindings } = planEntities(network);
const endpoints = (config.getObject("endpoints") ?? []).map(({ name }) => planBinding(network, { name }).bindings[0]);
const made = { exchange: new Map(), queue: new Map() };

for (const { name, type } of exchanges) {
  const settings = { type, durable: true };
  made.exchange.set(name, new rabbitmq.Exchange(name, { name, vhost, settings }, { provider }));
}
const endpointQueues = endpoints.map(({ destination }) => ({
  name: destination,
  arguments: { "x-queue-type": "quorum" },
}));
for (const { name, arguments: values } of [...queues, ...endpointQueues]) {
  const settings = { durable: true, argumentsJson: JSON.stringify(Object.fromEntries(Object.entries(values).sort())) };
  made.queue.set(name, new rabbitmq.Queue(name, { name, vhost, settings }, { provider }));
}
for (const { source, destination, destinationType, routingKey } of [...bindings, ...endpoints]) {
  const names = { source: made.exchange.get(source).name, destination: made[destinationType].get(destination).name };
  new rabbitmq.Binding(`${source}-to-${destination}`, { ...names, vhost, destinationType, routingKey }, { provider });
}
const policy = parkingPolicy(network);
const { name, ...rest } = policy;
new rabbitmq.Policy(name, { name, vhost, policy: rest }, { provider });
