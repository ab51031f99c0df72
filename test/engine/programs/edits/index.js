"use strict";

// Components as the config lists them, each with its type, name, arguments and former names. A network "$NAME" is the topology of that
// name, declared before.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const components = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const { parts } = config.requireObject("network");

const made = new Map();
const named = (one) => (typeof one === "string" ? made.get(one.slice(1)) : one);
for (const { type, name, args, formerNames = [] } of parts) {
  const { network, furtherNetworks, ...others } = args;
  const joined = { network: named(network), furtherNetworks: furtherNetworks?.map(named) };
  const aliases = formerNames.map((former) => ({ name: former }));
  made.set(
    name,
    new components[type](
      name,
      { vhost, removal: "delete", ...others, ...(type === "EndpointDelayBinding" ? joined : {}) },
      { provider, aliases },
    ),
  );
}
