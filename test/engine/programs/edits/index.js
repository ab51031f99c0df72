"use strict";

// Components as the config lists them, each with its type, name, arguments and former names. A network "$NAME" is the topology of that
// name, declared before. One with isElsewhere is declared by another provider, one with isGrouped under another component, and one with
// wasAlone says by an alias that it was under none before.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const components = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const login = { username: "guest", password: "guest" };
const here = new rabbitmq.Provider("broker", { endpoint: managementUrl, ...login });
const elsewhere = new rabbitmq.Provider("elsewhere", { endpoint: managementUrl, ...login });
const { parts } = config.requireObject("network");

const made = new Map();
const named = (one) => (typeof one === "string" ? made.get(one.slice(1)) : one);
class Group extends pulumi.ComponentResource {
  constructor() {
    super("test:index:Group", "group", {}, { providers: [here] });
  }
}
const group = parts.some(({ isGrouped }) => isGrouped) ? new Group() : undefined;

for (const { type, name, args, formerNames = [], isElsewhere, isGrouped, wasAlone } of parts) {
  const provider = isElsewhere ? elsewhere : here;
  const { network, furtherNetworks, ...others } = args;
  const joined = { network: named(network), furtherNetworks: furtherNetworks?.map(named) };
  const aliases = formerNames.map((former) => ({ name: former }));
  if (wasAlone) aliases.push({ parent: pulumi.rootStackResource });
  made.set(
    name,
    new components[type](
      name,
      { vhost, removal: "delete", ...others, ...(type === "EndpointDelayBinding" ? joined : {}) },
      { provider, aliases, ...(isGrouped ? { parent: group } : {}) },
    ),
  );
}
