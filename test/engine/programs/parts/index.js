"use strict";

// Components as the config lists them, each with its type, name and arguments. The network "$broker" is the one that the
// broker's stack exports.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const components = require("rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost, username = "guest" } = config.requireObject("broker");
const password = config.get("brokerPassword") ?? "guest";
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username, password });
const { parts } = config.requireObject("network");

for (const { type, name, args } of parts) {
  const isElsewhere = args.network === "$broker";
  const stack = isElsewhere ? new pulumi.StackReference(`organization/rabbitmq-delay/test`) : undefined;
  const network = isElsewhere ? { network: stack.requireOutput("delayNetwork") } : {};
  new components[type](name, { vhost, ...args, ...network }, { provider });
}
