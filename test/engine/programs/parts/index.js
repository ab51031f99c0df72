"use strict";

// Components as the config lists them, each with its type, name and arguments. The network "$broker" is the one that the
// broker's stack exports; a destination "$NAME" is the name output of the queue NAME, which the program declares then. A type
// "read" is a user that the program only reads, and a type "Namespace" one of Kubernetes.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const components = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost, username = "guest" } = config.requireObject("broker");
const password = config.get("brokerPassword") ?? "guest";
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username, password });
const { parts } = config.requireObject("network");

let stack;
for (const { type, name, args, opts = {} } of parts) {
  if (type === "read") {
    rabbitmq.User.get(name, args.user, undefined, { provider });
    continue;
  }
  if (type === "Namespace") {
    new (require("@pulumi/kubernetes").core.v1.Namespace)(name, args, opts);
    continue;
  }
  const place = type === "RabbitMqCluster" ? {} : { vhost };
  const isElsewhere = args.network === "$broker";
  if (isElsewhere) stack ??= new pulumi.StackReference(`organization/rabbitmq-delay/test`);
  const network = isElsewhere ? { network: stack.requireOutput("delayNetwork") } : {};
  const queue = /^\$(.*)$/.exec(args.destination ?? "")?.[1];
  const destination = queue === undefined ? {} : { destination: declareQueue(queue).name };
  new components[type](name, { ...place, ...args, ...network, ...destination }, { provider });
}

function declareQueue(name) {
  const settings = { durable: true, argumentsJson: '{"x-queue-type":"quorum"}' };
  return new rabbitmq.Queue(name, { name, vhost, settings }, { provider, retainOnDelete: true });
}
