"use strict";

// A network with an endpoint, and both once more in `twin`, a vhost, under another parent. A transform changes the endpoint's queue as `change`
// says; `by` says where the program has the transform.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology, EndpointDelayBinding } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const { change, by, twin, ...shape } = config.requireObject("network");

const changes = {
  argument: ({ props, opts }) => {
    const argumentsJson = JSON.stringify({ ...JSON.parse(props.settings.argumentsJson), "x-max-length": 5 });
    return { props: { ...props, settings: { ...props.settings, argumentsJson } }, opts };
  },
  retention: ({ props, opts }) => ({ props, opts: { ...opts, retainOnDelete: true } }),
  order: ({ props, opts }) => ({ props, opts: { ...opts, deleteBeforeReplace: false } }),
  provider: ({ props, opts }) => ({ props, opts: { ...opts, provider: other } }),
  // The queue of the other component of this name.
  vhost: ({ props, opts }) => ({ props: { ...props, vhost }, opts }),
  protection: ({ props, opts }) => ({ props, opts: { ...opts, protect: true } }),
};
const transform = (resource) =>
  resource.type === "rabbitmq:index/queue:Queue" && resource.name === "sales-Sales"
    ? changes[change]?.(resource)
    : undefined;

if (by === "stack") pulumi.runtime.registerResourceTransform(transform);
const own =
  by === "component" ? { transforms: [transform] } : by === "transformations" ? { transformations: [transform] } : {};

const login = { endpoint: managementUrl, username: "guest", password: "guest" };
const provider = new rabbitmq.Provider("broker", login);
const other = new rabbitmq.Provider("other", login);
const removal = "delete";
declare(vhost, { provider });
if (twin !== undefined) {
  const parent = new pulumi.ComponentResource("test:index:Twin", "twin", {}, { providers: [provider] });
  declare(twin, { parent });
}

function declare(place, opts) {
  const network = new DelayLevelTopology("net", { ...shape, vhost: place, removal }, opts);
  new EndpointDelayBinding("sales", { endpoint: "Sales", createQueue: true, network, removal }, { ...opts, ...own });
}
