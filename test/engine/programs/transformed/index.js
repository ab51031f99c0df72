"use strict";

// A network with an endpoint. A transform changes the endpoint's queue: `change` is an argument, retention or protection; `by` says where the
// program has the transform.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology, EndpointDelayBinding } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const { change, by, ...shape } = config.requireObject("network");

const changes = {
  argument: ({ props, opts }) => {
    const argumentsJson = JSON.stringify({ ...JSON.parse(props.settings.argumentsJson), "x-max-length": 5 });
    return { props: { ...props, settings: { ...props.settings, argumentsJson } }, opts };
  },
  retention: ({ props, opts }) => ({ props, opts: { ...opts, retainOnDelete: true } }),
  protection: ({ props, opts }) => ({ props, opts: { ...opts, protect: true } }),
};
const transform = (resource) =>
  resource.type === "rabbitmq:index/queue:Queue" && resource.name === "sales-Sales"
    ? changes[change]?.(resource)
    : undefined;

if (by === "stack") pulumi.runtime.registerResourceTransform(transform);
const own =
  by === "component" ? { transforms: [transform] } : by === "transformations" ? { transformations: [transform] } : {};

const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const removal = "delete";
const network = new DelayLevelTopology("net", { ...shape, vhost, removal }, { provider });
new EndpointDelayBinding("sales", { endpoint: "Sales", createQueue: true, network, removal }, { provider, ...own });
