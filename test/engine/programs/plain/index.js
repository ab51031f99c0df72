"use strict";

// Resources of the provider as the config lists them, without a component of this project: each with its type, name, arguments and options.
// One with isGrouped stands under a component of the program's own, and an alias with wasAlone says that it stood under none before.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const { resources } = config.requireObject("network");

class Group extends pulumi.ComponentResource {
  constructor() {
    super("test:index:Group", "group", {}, { providers: [provider] });
  }
}
const group = resources.some(({ isGrouped }) => isGrouped) ? new Group() : undefined;

const ends = [];
for (const { type, name, args, opts = {}, isGrouped } of resources) {
  const aliases = (opts.aliases ?? []).map(({ wasAlone, ...alias }) =>
    wasAlone ? { ...alias, parent: pulumi.rootStackResource } : alias,
  );
  const place = type === "User" ? {} : { vhost };
  const isBetween = type === "Binding" || type === "Permissions";
  const options = {
    provider,
    ...opts,
    aliases,
    ...(isGrouped ? { parent: group } : {}),
    dependsOn: isBetween ? ends : [],
  };
  const made = new rabbitmq[type](name, { ...place, ...args }, options);
  if (!isBetween) ends.push(made);
}
