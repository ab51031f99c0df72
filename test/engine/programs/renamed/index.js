"use strict";

// The same network under the logical name of the config; with `alias`, under the one that it had before too.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const { name, alias, ...network } = config.requireObject("network");
const aliases = alias === undefined ? [] : [{ name: alias }];
new DelayLevelTopology(name, { ...network, vhost, removal: config.require("removal") }, { provider, aliases });
