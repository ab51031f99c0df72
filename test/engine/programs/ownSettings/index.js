"use strict";

// A network of the default provider, whose settings are the stack's config.
const pulumi = require("@pulumi/pulumi");
const { DelayLevelTopology } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
new DelayLevelTopology("net", {
  ...config.requireObject("network"),
  vhost: config.requireObject("broker").vhost,
  removal: "delete",
});
